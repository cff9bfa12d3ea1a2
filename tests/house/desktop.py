# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""The files that make a desktop know the program, and that they agree with one another."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from repository import Skip

ID = "org.warpline.Warpline"
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def _run(*command):
    if not shutil.which(command[0]):
        raise Skip(f"{command[0]} is not installed")
    return subprocess.run(command, capture_output=True, text=True, check=False)


def disagreements(entry, metainfo, mime):
    """What the three files (texts) say differently about one thing."""
    component = ElementTree.fromstring(metainfo)
    if component.findtext("id") != ID:
        yield f"metainfo: id {component.findtext('id')}, should be {ID}"
    if component.findtext("launchable") != f"{ID}.desktop":
        yield f"metainfo: launchable {component.findtext('launchable')}, should be {ID}.desktop"
    if not re.search(rf"^Icon={re.escape(ID)}$", entry, re.M):
        yield f"desktop entry: the icon is not {ID}"
    listed = re.search(r"^MimeType=(.*)$", entry, re.M)
    listed = set(filter(None, listed.group(1).split(";"))) if listed else set()
    defined = set()
    for kind in ElementTree.fromstring(mime).iter(f"{MIME}mime-type"):
        defined.add(kind.get("type"))
        if not kind.findall(f"{MIME}glob"):
            yield f"MIME types: {kind.get('type')} has no file name pattern"
        if kind.find(f"{MIME}comment") is None:
            yield f"MIME types: {kind.get('type')} has no comment"
    if not defined:
        yield "MIME types: none defined"
    for kind in sorted(defined - listed):
        yield f"desktop entry: MimeType lacks {kind}"
    provided = {element.text for element in component.iter("mediatype")}
    for kind in sorted(defined ^ provided):
        yield f"metainfo and MIME types differ about {kind}"


def check_desktop(repo, _build):
    entry, metainfo, mime = (f"packaging/{ID}.{end}" for end in ("desktop", "metainfo.xml", "mime.xml"))
    yield from disagreements(repo.text(entry), repo.text(metainfo), repo.text(mime))
    ElementTree.fromstring(repo.text("resources/icons/warpline.svg"))
    for command in (("desktop-file-validate", str(repo.root / entry)),
                    ("appstreamcli", "validate", "--no-net", str(repo.root / metainfo))):
        run = _run(*command)
        if run.returncode:
            yield f"{command[0]}: {run.stdout}{run.stderr}".strip()
