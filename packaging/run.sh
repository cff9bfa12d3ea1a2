#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
#
# Installs what is missing, builds Warpline and opens FILE..., or the sample.
# Without a display it draws pictures into build/pictures and prints a summary.
#   run.sh [FILE...]
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build=$root/build/release

files=()
for file in "$@"; do
    if [ "$file" != - ] && [ ! -e "$file" ]; then
        echo "run.sh: no such file: $file" >&2
        exit 1
    fi
    files+=("$file")
done
[ ${#files[@]} -gt 0 ] || files=("$root"/resources/samples/gpt.*)

"$root/packaging/install-deps.sh" build
(
    cd "$root"
    cmake --preset release --log-level=WARNING
    cmake --build --preset release --target warpline warpline-cli
)

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    exec "$build/warpline" "${files[@]}"
fi

pictures=$root/build/pictures
mkdir -p "$pictures"
export QT_QPA_PLATFORM=offscreen
for view in timeline ops kernels flame memory; do
    "$build/warpline" --screenshot "$pictures/$view.png" --view "$view" "${files[@]}"
done
"$build/warpline" --screenshot "$pictures/timeline-dark.png" --view timeline --dark "${files[@]}"
"$build/warpline-cli" info "${files[@]}"
"$build/warpline-cli" ops --limit 15 "${files[0]}"
echo
echo "No display here; pictures of the window:"
ls "$pictures"/*.png
