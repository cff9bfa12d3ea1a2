#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
#
# Draws the pictures of the README, real screenshots of the sample, into resources/pictures.
#   make-pictures.sh [BUILD FOLDER]   (build/release)
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
warpline=$(readlink -f "${1:-$root/build/release}")/warpline
sample=$root/resources/samples/gpt.json.gz
pictures=$root/resources/pictures

mkdir -p "$pictures"
export QT_QPA_PLATFORM=offscreen
shoot() {
    local picture=$1
    shift
    "$warpline" --screenshot "$pictures/$picture.png" --size 1600x1000 "$@" "$sample"
}
shoot timeline --view timeline
shoot timeline-dark --view timeline --dark
shoot ops --view ops
ls -l "$pictures"/*.png
