#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
#
# Proves the recorder on a machine with an NVIDIA GPU, CUDA's nvcc and PyTorch, in at most ten minutes: counts, costs,
# attaching, losses. Results go to $OUT/results.json (OUT = out/gpu without it), recordings beside it.
#   prove.sh [STEP...]     only these steps; WARPLINE_RECORDER = the unpacked recorder or its tarball
#                          (packaging/make-recorder.sh), PROVE_SECONDS = the time there is (570)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export OUT=${OUT:-$root/out/gpu}
mkdir -p "$OUT"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

recorder=${WARPLINE_RECORDER:-$(ls -t "$root"/build/recorder/warpline-recorder-*.tar.gz 2>/dev/null | head -1)}
if [ -f "$recorder" ]; then
    tar -xzf "$recorder" -C "$work" || exit 1
    recorder=$(dirname "$(find "$work" -name warpline-cli | head -1)")
fi
if [ ! -x "$recorder/warpline-cli" ]; then
    echo "no recorder: run packaging/make-recorder.sh first" >&2
    exit 1
fi
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    nproc
    uname -r
    cat /proc/sys/kernel/yama/ptrace_scope 2>&1
    python3 -c 'import torch; print(torch.__version__, torch.version.cuda)'
    command -v nvcc nsys
    find / -name nsys -type f -executable -not -path '/proc/*' 2>/dev/null | head -3
} >"$OUT/machine.txt" 2>&1
# Where CUPTI is no library of the system's: for programs that do not bring it.
if [ -z "${WARPLINE_CUPTI:-}" ] && ! ldconfig -p | grep -q 'libcupti.so.1[23]'; then
    found=$(find /usr/local /opt /usr/lib -name 'libcupti.so.1[23]' -not -path '*/compat/*' 2>/dev/null | head -1)
    [ -n "$found" ] && export WARPLINE_CUPTI=$found
fi
echo "CUPTI: ${WARPLINE_CUPTI:-the system finds it}" >>"$OUT/machine.txt"
nvcc=$(command -v nvcc || ls /usr/local/cuda*/bin/nvcc 2>/dev/null | head -1)
timeout 120 "$nvcc" -O2 -o "$work/counted" "$here/counted.cu" -ldl >"$OUT/nvcc.txt" 2>&1
exec timeout -k 10 "${PROVE_SECONDS:-570}" python3 "$here/prove.py" "$recorder" "$work" "$@"
