#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""What opening a memory snapshot costs: `warpline-cli memory` against a loop in plain Python over pickle.load that
comes to the same peak, in turns, on a snapshot as torch writes them that is made first."""
import argparse
import json
import os
import pickle
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = [512, 4 << 10, 64 << 10, 1 << 20, 2 << 20, 8 << 20, 20 << 20, 64 << 20]
SEGMENT = 2 << 20


def make(path, events):
    """Blocks of eight sizes that come and go in phases, each event with one of 3,000 stacks of 24 frames."""
    draw = random.Random(1)
    names = ["forward", "backward", "step", "_call_impl", "attention", "mlp", "loss"]
    frames = [{"filename": f"/srv/model/layer_{i % 37}.py", "line": 10 + i % 400, "name": names[i % 7]}
              for i in range(2000)]
    stacks = [[draw.choice(frames) for _ in range(24)] for _ in range(3000)]
    trace, live, segments = [], {}, {}
    free = {size: [] for size in SIZES}
    base, now = 0x7F0000000000, 1_790_000_000_000_000

    def add(action, address, size, stack):
        trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": now, "frames": stack})

    while len(trace) < events:
        now += draw.randrange(1, 40)
        if live and draw.random() < (0.35 if len(trace) // 4000 % 2 == 0 else 0.62):
            address = next(iter(live))
            requested, size, stack = live.pop(address)
            add("free_requested", address, requested, stack)
            add("free_completed", address, requested, stack)
            free[size].append(address)
            continue
        size = SIZES[min(len(SIZES) - 1, int(draw.expovariate(0.45)))]
        stack = draw.choice(stacks)
        if free[size]:
            address = free[size].pop()
        else:
            address, total = base, -(-size // SEGMENT) * SEGMENT
            base += total
            segments[address] = total
            add("segment_alloc", address, total, stack)
        requested = size - draw.randrange(256)
        live[address] = requested, size, stack
        add("alloc", address, requested, stack)

    def blocks(address, total):
        if address not in live:
            return [{"address": address, "size": total, "requested_size": 0, "state": "inactive", "frames": []}]
        requested, size, stack = live[address]
        held = {"address": address, "size": size, "requested_size": requested, "state": "active_allocated",
                "frames": stack}
        rest = {"address": address + size, "size": total - size, "requested_size": 0, "state": "inactive",
                "frames": []}
        return [held, rest] if total > size else [held]

    def segment(address, total):
        active = live[address][1] if address in live else 0
        return {"device": 0, "address": address, "total_size": total, "allocated_size": active, "active_size": active,
                "stream": 0, "segment_type": "large" if total > SEGMENT else "small", "segment_pool_id": (0, 0),
                "is_expandable": False, "frames": [], "blocks": blocks(address, total)}

    snapshot = {"segments": [segment(*s) for s in segments.items()], "device_traces": [trace[:events]],
                "external_annotations": []}
    path.write_bytes(pickle.dumps(snapshot, protocol=4))


def plain(path):
    """The peak of the requested bytes, worked out plainly."""
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    live, before, moves = {}, 0, []
    for i, event in enumerate(snapshot["device_traces"][0]):
        address, size = event.get("addr"), event["size"]
        if event["action"] == "alloc":
            moves += [(i, -live.pop(address))] if address in live else []
            live[address] = size
            moves.append((i, size))
        elif event["action"] == "free_completed":
            if address not in live:
                before += size
            moves.append((i, -live.pop(address, size)))
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if block["state"].startswith("active") and block["address"] not in live:
                before += block["requested_size"]
    now = peak = before
    where = -1
    for i, move in moves:
        now += move
        if now > peak:
            peak, where = now, i
    return {"event": where, "requested_bytes": peak}


def run(command):
    """Seconds, the most bytes resident, and what it printed."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]}: exit {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024, out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="a release build (%(default)s)")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    for hidden in ("--plain", "--make"):
        parser.add_argument(hidden, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.plain:
        json.dump(plain(options.plain), sys.stdout)
        return
    if options.make:
        make(options.make, options.events)
        return
    path = options.build / "bench-data" / f"snapshot_{options.events}.pickle"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():  # by another process: what this one ever held counts as its children's
        run([sys.executable, __file__, "--make", path, "--events", str(options.events)])
    ours, theirs, memory = [], [], 0
    for _ in range(options.repeat):
        seconds, resident, out = run([options.build / "warpline-cli", "memory", path, "--json"])
        ours.append(seconds)
        memory = max(memory, resident)
        peak = json.loads(out)["devices"][0]["peak"]
        seconds, _, out = run([sys.executable, __file__, "--plain", path])
        theirs.append(seconds)
        want = json.loads(out)
        if any(peak[key] != value for key, value in want.items()):
            sys.exit(f"not the same peak: {peak}, {want}")
    ratios = [theirs[i] / ours[i] for i in range(options.repeat)]
    print(f"{options.events:,} events, {path.stat().st_size / 1e6:.0f} MB, medians of {options.repeat} in turns")
    print(f"warpline-cli memory   {statistics.median(ours):.2f} s, {memory / options.events:.0f} bytes an event")
    print(f"a loop in Python      {statistics.median(theirs):.2f} s")
    print(f"times as fast         {statistics.median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f})")


if __name__ == "__main__":
    main()
