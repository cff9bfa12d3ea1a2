# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""Every source and script names its licence, the right one for where it lies."""

import re
from pathlib import Path

from repository import SCRIPT, SOURCE

GPL, APACHE = "GPL-3.0-or-later", "Apache-2.0"
FOLDERS = {"app": GPL, "views": GPL, "resources": GPL, "model": APACHE, "capture": APACHE, "tests": APACHE,
           "packaging": APACHE, ".ci": APACHE}
EXCEPTIONS = {"packaging/org.warpline.Warpline.metainfo.xml": "CC0-1.0"}  # AppStream asks for it
COMMENTED = SOURCE | SCRIPT | {".svg", ".xml", ".desktop", ".in", ".qrc", ".cmake"}
IDENTIFIER = re.compile(r"SPDX-License-Identifier: ([\w.+-]+)")


def expected(name):
    """The licence a file has to name; None where none is asked for."""
    path = Path(name)
    if name in EXCEPTIONS:
        return EXCEPTIONS[name]
    if path.name == "CMakeLists.txt" or path.suffix == ".cmake" or path.name in (".clang-format", ".clang-tidy"):
        return APACHE
    if path.suffix in COMMENTED or name == ".ci/run":
        return FOLDERS.get(path.parts[0])
    return None


def check_licences(repo, _build):
    for name in repo.files:
        if "/data/" in name:
            continue
        want = expected(name)
        if want is None:
            continue
        head = "\n".join(repo.text(name).splitlines()[:6])
        found = IDENTIFIER.search(head)
        if not found:
            yield f"{name}: no SPDX-License-Identifier in its first lines; it should be {want}"
        elif found.group(1) != want:
            yield f"{name}: says {found.group(1)}, should be {want}"
        if Path(name).suffix in SOURCE | SCRIPT and "SPDX-FileCopyrightText: Warpline contributors" not in head:
            yield f"{name}: no SPDX-FileCopyrightText in its first lines"
    for licence in (GPL, APACHE, "CC0-1.0"):
        if f"LICENSE.{licence}" not in repo.files:
            yield f"LICENSE.{licence}: the text is missing"
