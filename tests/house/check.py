#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""Checks of the repository itself. Each prints what is wrong, one line each, and leaves with 1; 77 if it cannot be
made here. usage: check.py NAME... [--root FOLDER] [--build FOLDER]"""

import argparse
import sys
from pathlib import Path

from desktop import check_desktop
from fences import check_includes, check_linkage
from layout import check_format, check_layout
from licences import check_licences
from readme import check_readme
from repository import Repository, Skip

CHECKS = {"includes": check_includes, "linkage": check_linkage, "licences": check_licences, "layout": check_layout,
          "format": check_format, "desktop": check_desktop, "readme": check_readme}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="+", choices=CHECKS)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=Path, help="where the programs were built")
    arguments = parser.parse_args()
    repo = Repository(arguments.root)
    problems = []
    try:
        for name in arguments.name:
            problems += CHECKS[name](repo, arguments.build)
    except Skip as reason:
        print(f"skipped: {reason}")
        return 77
    print("\n".join(problems) if problems else f"{', '.join(arguments.name)}: {len(repo.files)} files, nothing to mend")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
