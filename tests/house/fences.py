# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""Which part may include which, and what the command line may be linked with."""

import re
import subprocess

from repository import SOURCE

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
QT = re.compile(r"^(Q[A-Z]\w*|Qt\w*(/.*)?|qt6?/.*|q[a-z]\w*\.h|moc_.*|.*\.moc)$")

# The folders that a folder may include from. The longest prefix counts.
ARROWS = {
    "model": {"model"},
    "capture/protocol": {"capture/protocol"},
    "capture/agent": {"capture/agent", "capture/protocol"},
    "capture/recorder": {"capture/recorder", "capture/protocol", "model"},
    "views": {"views", "model", "capture/recorder"},
    "app/cli": {"app/cli", "model", "capture/recorder", "capture/protocol"},
    "app": {"app", "views", "model", "resources", "capture/recorder"},
    "resources": {"resources"},
}
QT_FREE = ("model/", "capture/", "app/cli/")

# Qt Charts stays in one folder, so that it can be replaced in one place.
CHARTS = "views/charts/"
CHART_HEADER = re.compile(r"^(QtCharts/|Q(Chart|AbstractSeries|LineSeries|AreaSeries|ValueAxis|AbstractAxis)\w*$)")

# glibc, the loader and the kernel's page: what every Linux machine has.
GLIBC = re.compile(r"^(linux-vdso|ld-linux[-\w]*|lib(c|m|dl|rt|pthread|mvec|resolv|util))\.so(\.\d+)*$")


def _longest(table, name):
    fits = [folder for folder in table if name.startswith(folder + "/")]
    return max(fits, key=len, default=None)


def check_includes(repo, _build):
    tops = {folder.split("/")[0] for folder in ARROWS} | {"tests"}
    for name in repo.with_suffix(SOURCE):
        if name.startswith("tests/"):
            continue
        folder = _longest(ARROWS, name)
        for match in INCLUDE.finditer(repo.text(name)):
            quoted, header = match.group(1) == '"', match.group(2)
            if name.startswith(QT_FREE) and QT.match(header):
                yield f"{name}: includes {header}; no Qt here"
            if CHART_HEADER.match(header) and not name.startswith(CHARTS):
                yield f"{name}: includes {header}; Qt Charts belongs to {CHARTS}"
            if header.startswith(".") or "/../" in header:
                yield f"{name}: includes {header}; write paths from the top of the repository"
            elif header.split("/")[0] in tops and "/" in header:
                if not quoted:
                    yield f"{name}: includes <{header}>; our own headers stand in quotes"
                if not any(header.startswith(ok + "/") for ok in ARROWS.get(folder, ())):
                    yield f"{name}: includes {header}; {folder} may include from " \
                          f"{', '.join(sorted(ARROWS.get(folder, ())))} only"


def check_linkage(_repo, build):
    for binary in (build / "warpline-cli", build / "libwarpline-agent.so"):
        if binary.suffix == ".so" and not binary.exists():
            continue  # built without CUPTI's headers
        out = subprocess.run(["ldd", str(binary)], check=True, capture_output=True, text=True).stdout
        libraries = [line.split()[0] for line in out.splitlines() if line.strip()]
        if not libraries:
            yield f"{binary}: ldd names no library; is it the program?"
        yield from linked_beyond_glibc(binary.name, libraries)


def linked_beyond_glibc(binary, libraries):
    for library in libraries:
        if not GLIBC.match(library.rsplit("/", 1)[-1]):
            yield f"{binary}: linked with {library}; only glibc may be linked dynamically"
