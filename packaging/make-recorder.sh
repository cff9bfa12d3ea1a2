#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
#
# Makes one tarball to copy to a GPU server: the command line, the agent and the torch helper. Nothing but glibc 2.34
# is needed there.
#   make-recorder.sh [FOLDER]    build/recorder without it; prints the tarball's path
set -euo pipefail
cd "$(dirname "$0")/.."
to=${1:-build/recorder}

cmake --preset cli >/dev/null
cmake --build --preset cli --target warpline-cli warpline_agent >&2
version=$(build/cli/warpline-cli --version | cut -d' ' -f2)
name=warpline-recorder-$version-$(uname -m)
rm -rf "${to:?}/$name"
mkdir -p "$to/$name/torch"
install -m 755 -s build/cli/warpline-cli "$to/$name/"
install -m 755 -s build/cli/libwarpline-agent.so "$to/$name/"
install -m 644 resources/torch/*.py "$to/$name/torch/"
install -m 644 LICENSE LICENSE.Apache-2.0 LICENSE.GPL-3.0-or-later "$to/$name/"
tar -C "$to" -czf "$to/$name.tar.gz" --owner=0 --group=0 "$name"
echo "$to/$name.tar.gz"
