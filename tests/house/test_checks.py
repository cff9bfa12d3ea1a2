# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""The checks find what they are for: each is given a small repository with one thing wrong, and one with nothing."""

import tempfile
import unittest
from pathlib import Path

import desktop
import fences
import layout
import licences
import readme
from repository import Repository

APACHE = "// SPDX-License-Identifier: Apache-2.0\n// SPDX-FileCopyrightText: Warpline contributors\n#pragma once\n"
GPL = APACHE.replace("Apache-2.0", "GPL-3.0-or-later")
HERE = Path(__file__).resolve().parents[2]


class CheckTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def problems(self, check, files):
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")
        return list(check(Repository(self.root), self.root / "build"))

    def assert_finds(self, check, files, *parts):
        found = self.problems(check, files)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])


class Includes(CheckTest):
    def test_good(self):
        self.assertEqual(self.problems(fences.check_includes, {
            "views/a.h": '#include "model/base/ids.h"\n#include <QWidget>\n#include <vector>\n',
            "app/gui/main.cpp": '#include "views/a.h"\n#include <QApplication>\n',
            "views/charts/plot.cpp": "#include <QChart>\n#include <QtCharts/QLineSeries>\n",
            "capture/agent/a.cpp": '#include "capture/protocol/wire.h"\n',
            "model/query/q.cpp": '#include "model/base/ids.h"\n#include <queue>\n#include <archive.h>\n',
        }), [])

    def test_qt_in_model(self):
        for header in ("QString", "QtCore/QString", "qglobal.h", "QtGlobal", "qt6/QtCore/qstring.h"):
            with self.subTest(header):
                self.assert_finds(fences.check_includes, {"model/base/a.h": f"#include <{header}>\n"}, "no Qt")

    def test_qt_in_command_line(self):
        self.assert_finds(fences.check_includes, {"app/cli/main.cpp": "#  include <QFile>\n"}, "no Qt")

    def test_arrows(self):
        for name, header in (("model/a.cpp", "views/theme.h"), ("views/a.cpp", "app/gui/window.h"),
                             ("app/cli/a.cpp", "views/theme.h"), ("capture/agent/a.cpp", "model/base/ids.h"),
                             ("resources/a.cpp", "views/theme.h"), ("capture/protocol/a.h", "model/base/ids.h")):
            with self.subTest(name):
                for old in self.root.rglob("*.*"):
                    old.unlink()
                self.assert_finds(fences.check_includes, {name: f'#include "{header}"\n'}, header, "only")

    def test_upward_path(self):
        self.assert_finds(fences.check_includes, {"views/a.cpp": '#include "../model/base/ids.h"\n'}, "from the top")

    def test_charts_outside(self):
        self.assert_finds(fences.check_includes, {"views/memory/a.cpp": "#include <QChartView>\n"}, "views/charts/")


class Linkage(unittest.TestCase):
    def test_glibc_only(self):
        good = ["linux-vdso.so.1", "libm.so.6", "libc.so.6", "/lib64/ld-linux-x86-64.so.2"]
        self.assertEqual(list(fences.linked_beyond_glibc("cli", good)), [])
        for bad in ("libstdc++.so.6", "libgcc_s.so.1", "libQt6Core.so.6", "libcrypto.so.3", "libz.so.1", "libmd.so.0"):
            with self.subTest(bad):
                self.assertEqual(len(list(fences.linked_beyond_glibc("cli", good + [bad]))), 1)


class Licences(CheckTest):
    TEXTS = {f"LICENSE.{name}": "" for name in ("Apache-2.0", "GPL-3.0-or-later", "CC0-1.0")}

    def test_good(self):
        self.assertEqual(self.problems(licences.check_licences, {
            **self.TEXTS, "model/a.h": APACHE, "views/a.h": GPL, "app/CMakeLists.txt": APACHE, "tests/data/x.h": "",
        }), [])

    def test_wrong_or_none(self):
        for name, text, part in (("model/a.h", GPL, "should be Apache"), ("app/cli/a.cpp", APACHE, "should be GPL"),
                                 ("views/a.cpp", "#include <vector>\n", "no SPDX-License"),
                                 ("packaging/a.sh", APACHE.splitlines()[0] + "\n", "FileCopyright"),
                                 ("views/CMakeLists.txt", GPL, "should be Apache")):
            with self.subTest(name):
                for old in self.root.rglob("*.*"):
                    if old.is_file():
                        old.unlink()
                found = self.problems(licences.check_licences, {**self.TEXTS, name: text})
                self.assertTrue(any(name in line and part in line for line in found), found)

    def test_text_missing(self):
        texts = dict(self.TEXTS)
        del texts["LICENSE.CC0-1.0"]
        self.assert_finds(licences.check_licences, texts, "LICENSE.CC0-1.0")


class Layout(CheckTest):
    def test_good(self):
        self.assertEqual(self.problems(layout.check_layout, {
            "README.md": "", "LICENSE": "", "LICENSE.Apache-2.0": "", ".ci/run": "", "model/a.h": APACHE,
            "model/a.cpp": "\n" * 600,
        }), [])

    def test_top_level(self):
        self.assert_finds(layout.check_layout, {"notes.txt": ""}, "notes.txt")

    def test_long_file(self):
        self.assert_finds(layout.check_layout, {"views/a.cpp": "\n" * 601}, "601 lines")

    def test_include_guard(self):
        self.assert_finds(layout.check_layout, {"views/a.h": "int a;\n"}, "#pragma once")

    def test_format(self):
        (self.root / ".clang-format").write_text((HERE / ".clang-format").read_text(encoding="utf-8"),
                                                 encoding="utf-8")
        try:
            self.assertEqual(self.problems(layout.check_format, {"model/a.cpp": "int a = 1;\n"}), [])
            self.assert_finds(layout.check_format, {"model/b.cpp": "int  a=1 ;\n"}, "model/b.cpp: not formatted")
        except layout.Skip as reason:
            self.skipTest(str(reason))


class Desktop(unittest.TestCase):
    def setUp(self):
        base = HERE / "packaging" / desktop.ID
        self.texts = [Path(f"{base}.{end}").read_text(encoding="utf-8")
                      for end in ("desktop", "metainfo.xml", "mime.xml")]

    def test_good(self):
        self.assertEqual(list(desktop.disagreements(*self.texts)), [])

    def test_bad(self):
        for index, old, new, part in (
                (0, "application/x-pytorch-trace-gzip;", "", "MimeType lacks"),
                (0, "Icon=org.warpline.Warpline", "Icon=warpline", "icon"),
                (1, "<id>org.warpline.Warpline</id>", "<id>warpline</id>", "id warpline"),
                (1, ".Warpline.desktop<", ".warpline.desktop<", "launchable"),
                (1, "<mediatype>application/x-pytorch-trace</mediatype>", "", "differ about"),
                (2, '<glob pattern="*.pt.trace.json" weight="60"/>', "", "no file name pattern")):
            with self.subTest(part):
                texts = list(self.texts)
                self.assertIn(old, texts[index])
                texts[index] = texts[index].replace(old, new)
                found = list(desktop.disagreements(*texts))
                self.assertTrue(any(part in line for line in found), found)


README = """# X
## Layout
```
model/       what
  base/      things
views/       more
```
## Use
```sh
packaging/run.sh trace.json      # opens it
cmake --preset dev && cmake --build --preset dev
warpline-cli ops trace.json --limit 5 | head
```
![picture](resources/a.png)
"""
CLI = """#!/bin/sh
case "$*" in
  --help) echo "ops" ;;
  "ops --help") echo "--limit N" ;;
  *) exit 2 ;;
esac
"""
PRESETS = '{"configurePresets": [{"name": "dev"}], "buildPresets": [{"name": "dev"}], "testPresets": []}'


class Readme(CheckTest):
    FILES = {"README.md": README, "model/base/a.h": "", "views/a.h": "", "packaging/run.sh": "",
             "resources/a.png": "", "CMakePresets.json": PRESETS, "build/warpline-cli": CLI}

    def check(self, old="", new=""):
        files = dict(self.FILES)
        if old:
            self.assertIn(old, README)
            files["README.md"] = README.replace(old, new)
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")
        (self.root / "build/warpline-cli").chmod(0o755)
        return list(readme.check_readme(Repository(self.root), self.root / "build"))

    def test_good(self):
        self.assertEqual(self.check(), [])

    def test_bad(self):
        for old, new, part in (("  base/ ", "  core/ ", "model/core/"), ("run.sh trace", "go.sh trace", "packaging/go.sh"),
                               ("--build --preset dev", "--build --preset fast", "no preset fast in buildPresets"),
                               ("cli ops", "cli opps", "no such command"), ("--limit 5", "--top 5", "--top"),
                               ("--limit 5", "--lim 5", "--lim"), ("a.png", "b.png", "resources/b.png"),
                               ("## Layout", "## Folders", "no section Layout")):
            with self.subTest(new):
                found = self.check(old, new)
                self.assertTrue(any(part in line for line in found), found)


if __name__ == "__main__":
    unittest.main()
