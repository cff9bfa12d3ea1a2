# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""The README names only what exists: paths, scripts, presets, subcommands, options, pictures."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def layout_paths(text):
    """The paths of the section "Layout": an indented tree, a name with a slash at each line's start."""
    section = re.search(r"^## Layout\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not section:
        return
    for _, block in FENCE.findall(section.group(1)):
        parents = []
        for line in block.splitlines():
            entry = re.match(r"( *)([\w.-]+/)(\s|$)", line)
            if entry:
                depth = len(entry.group(1))
                parents = [(d, name) for d, name in parents if d < depth] + [(depth, entry.group(2))]
                yield "".join(name for _, name in parents)


def commands(text):
    """Each command of the blocks marked sh, as words; comments, prompts and what follows a pipe are cut off."""
    for language, block in FENCE.findall(text):
        if language != "sh":
            continue
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"\s(?:\||&&)\s", line):
                words = shlex.split(part, comments=True)
                if words:
                    yield words


def linked_files(text):
    yield from (link for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text) if "://" not in link)
    yield from re.findall(r'<img[^>]* src="([^"]+)"', text)


class Program:
    """What a program's own help says of its subcommands and options; asked once each."""

    def __init__(self, path):
        self.path, self.helps = path, {}

    def help(self, *subcommand):
        if subcommand not in self.helps:
            run = subprocess.run([str(self.path), *subcommand, "--help"], capture_output=True, text=True, check=False,
                                 env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
            self.helps[subcommand] = run.stdout + run.stderr if run.returncode == 0 else None
        return self.helps[subcommand]


def _options(words):
    return [word.split("=")[0] for word in words if re.match(r"--\w", word)]


def command_problems(words, repo, programs):
    line, tool = " ".join(words), Path(words[0]).name
    if "/" in words[0] and not words[0].startswith(("build/", "/")) and not (repo.root / words[0]).is_file():
        yield f"README: `{line}`: there is no {words[0]}"
    if tool in ("cmake", "ctest") and "--preset" in words:
        presets = json.loads(repo.text("CMakePresets.json"))
        kind = "testPresets" if tool == "ctest" else "buildPresets" if "--build" in words else "configurePresets"
        name = words[words.index("--preset") + 1]
        if name not in {p["name"] for p in presets[kind] if not p.get("hidden")}:
            yield f"README: `{line}`: there is no preset {name} in {kind}"
    if tool.startswith("python3"):
        for word in words[1:]:
            if word.endswith(".py") and not (repo.root / word).is_file():
                yield f"README: `{line}`: there is no {word}"
    if tool in programs:
        program, rest = programs[tool], words[1:]
        subcommand = rest[:1] if tool == "warpline-cli" and rest and not rest[0].startswith("-") else []
        text = program.help(*subcommand)
        if text is None:
            yield f"README: `{line}`: {tool} knows no such command"
            return
        for option in _options(rest):
            if not re.search(rf"(?<![\w-]){option}(?![\w-])", text):
                yield f"README: `{line}`: the help of {tool} {' '.join(subcommand)} does not know {option}"


def check_readme(repo, build):
    text = repo.text("README.md")
    programs = {name: Program(build / name) for name in ("warpline", "warpline-cli") if (build / name).exists()}
    if "warpline-cli" not in programs:
        yield f"{build}: no warpline-cli there to hold the README against"
    paths, lines = list(layout_paths(text)), list(commands(text))
    if not paths:
        yield "README: no section Layout with a tree of folders"
    if not lines:
        yield "README: no commands"
    for path in paths:
        if not (repo.root / path).is_dir():
            yield f"README: the layout names {path}, which is not there"
    for link in linked_files(text):
        if not (repo.root / link).exists():
            yield f"README: links to {link}, which is not there"
    for words in lines:
        yield from command_problems(words, repo, programs)
