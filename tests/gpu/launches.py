#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""A loop bound by launches: 20 small kernels a step. Prints one line of JSON with steps a second.
usage: launches.py SECONDS [none|torch.profiler] [--window SECONDS]: with a window, the rate of each one, too."""
import json
import sys
import time

import torch


def main():
    seconds = float(sys.argv[1])
    profiler = sys.argv[2] if len(sys.argv) > 2 and not sys.argv[2].startswith('-') else 'none'
    window = float(sys.argv[sys.argv.index('--window') + 1]) if '--window' in sys.argv else 0
    x = torch.ones(1024, device='cuda')

    def step():
        y = x
        for _ in range(20):
            y = y + 1
        return y

    for _ in range(200):
        step()
    torch.cuda.synchronize()
    print('ready', flush=True)
    profile = None
    if profiler == 'torch.profiler':
        from torch.profiler import ProfilerActivity, profile as make
        profile = make(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
        profile.__enter__()
    steps = 0
    rates = []
    begun = last = time.perf_counter()
    last_steps = 0
    while True:
        for _ in range(20):
            step()
        torch.cuda.synchronize()
        steps += 20
        now = time.perf_counter()
        if window and now - last >= window:
            rates.append([time.time(), (steps - last_steps) / (now - last)])
            last, last_steps = now, steps
        if now - begun >= seconds:
            break
    rate = steps / (time.perf_counter() - begun)
    if profile is not None:
        profile.__exit__(None, None, None)
    print(json.dumps({'steps_per_second': rate, 'steps': steps, 'kernels': steps * 20, 'rates': rates}), flush=True)


main()
