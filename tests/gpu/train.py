#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""A training loop bound by the GPU. Prints one line of JSON with steps a second and the peak of its memory.
usage: train.py SECONDS [--count]: with --count, torch.profiler counts the kernels of 5 steps before."""
import json
import sys
import time

import torch
from torch import nn


def main():
    seconds = float(sys.argv[1])
    torch.manual_seed(0)
    model = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(4096, 4096), nn.GELU())]).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    data = torch.randn(4096, 4096, device='cuda')

    def step():
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    out = {}
    if '--count' in sys.argv:
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
            for _ in range(5):
                step()
            torch.cuda.synchronize()
        out['kernels_per_step'] = sum(
            1 for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA
            # Annotations are shown on the device's side too: they are no kernels.
            and not e.name.startswith(('Mem', 'Optimizer.', 'ProfilerStep'))) / 5
    print('ready', flush=True)
    steps = 0
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        step()
        torch.cuda.synchronize()
        steps += 1
    out.update(steps_per_second=steps / (time.perf_counter() - begun), steps=steps,
               peak_bytes=torch.cuda.max_memory_allocated())
    print(json.dumps(out), flush=True)


main()
