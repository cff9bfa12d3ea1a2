# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""What lies at the top, how long a file may be, how it is formatted."""

import re
import shutil
import subprocess

from repository import SCRIPT, SOURCE, Skip

TOP = re.compile(r"(\..*|CMakeLists\.txt|CMakePresets\.json|README\.md|LICENSE(\.[\w.-]+)?"
                 r"|app|model|capture|views|resources|tests|packaging)")
LONGEST = 600  # lines that one reader holds in mind
LONG_DATA = ()  # tables that are data in the form of code: path of each


def check_layout(repo, _build):
    for top in sorted({name.split("/")[0] for name in repo.files}):
        if not TOP.fullmatch(top):
            yield f"{top}: does not belong at the top level"
    for name in repo.with_suffix(SOURCE | SCRIPT):
        lines = repo.text(name).count("\n")
        if lines > LONGEST and name not in LONG_DATA:
            yield f"{name}: {lines} lines; divide it (at most {LONGEST})"
    for name in repo.with_suffix({".h"}):
        if "#pragma once" not in repo.text(name):
            yield f"{name}: no #pragma once"


def check_format(repo, _build):
    if not shutil.which("clang-format"):
        raise Skip("clang-format is not installed")
    sources = repo.with_suffix(SOURCE)
    for first in range(0, len(sources), 50):
        run = subprocess.run(["clang-format", "--dry-run", "-Werror", *sources[first:first + 50]], cwd=repo.root,
                             capture_output=True, text=True, check=False)
        names = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", run.stderr, re.M)))
        if run.returncode and not names:
            yield run.stderr.strip()
        for name in names:
            yield f"{name}: not formatted; run clang-format -i {name}"
