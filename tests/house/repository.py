# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""The files that the checks look at."""

import subprocess
from pathlib import Path

SOURCE = {".cpp", ".h"}
SCRIPT = {".py", ".sh"}


class Skip(Exception):
    """A check cannot be made here; the text says what is missing."""


class Repository:
    """A checkout, or a folder that looks like one. Paths are relative to its root, with slashes."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.files = sorted(self._tracked() or self._walk())

    def _tracked(self):
        """What git knows plus what it would add: build folders stay out, new files do not. None without git."""
        if not (self.root / ".git").exists():
            return None
        command = ["git", "-c", f"safe.directory={self.root}", "-C", str(self.root), "ls-files", "-z"]
        try:
            out = subprocess.run(command + ["--cached", "--others", "--exclude-standard"],
                                 check=True, capture_output=True).stdout.decode()
        except (OSError, subprocess.CalledProcessError):
            return None
        return [name for name in out.split("\0") if name and (self.root / name).is_file()]

    def _walk(self):
        for path in self.root.rglob("*"):
            name = path.relative_to(self.root).as_posix()
            top = name.split("/")[0]
            if path.is_file() and top not in (".git", "build", "out") and not top.startswith("build-") \
                    and "__pycache__" not in name:
                yield name

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def with_suffix(self, suffixes):
        return [name for name in self.files if Path(name).suffix in suffixes]
