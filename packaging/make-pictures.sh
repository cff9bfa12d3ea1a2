#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
#
# Draws the pictures of the README, real screenshots of the sample, into resources/pictures.
#   make-pictures.sh [BUILD FOLDER]   (build/release)
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
warpline=$(readlink -f "${1:-$root/build/release}")/warpline
samples=("$root/resources/samples/gpt.json.gz" "$root/resources/samples/gpt.snapshot.pickle.zst")
pictures=$root/resources/pictures

mkdir -p "$pictures"
export QT_QPA_PLATFORM=offscreen
shoot() {
    local picture=$1
    shift
    "$warpline" --screenshot "$pictures/$picture.png" --size 1600x1000 "$@" "${samples[@]}"
}
kernel='void at::native::(anonymous namespace)::cunn_SoftMaxForwardReg<c10::BFloat16, float, c10::BFloat16, '
kernel+='at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue, long, 8>'
kernel+='(c10::BFloat16*, c10::BFloat16 const*, long)'
shoot timeline --view timeline --light
shoot kernel --view timeline --dark --select "$kernel"
shoot memory --view memory --light
shoot flame --view flame --dark
ls -l "$pictures"/*.png
