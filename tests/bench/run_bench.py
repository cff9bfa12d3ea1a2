#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""Measures loading against peers and prints Markdown tables.

Makes the traces with gen_trace if they are not there, then, for each and in turns (so that what else the machine
does falls on all alike): `warpline-cli ops --json`, which is everything from opening to the op table, against
`python3 -c json.load`, and the same of the .gz against `gzip -dc`. Then the benchmark programs beside this file.
Input is in the page cache, output goes to /dev/null. Memory is the highest sum of a process's own pages (RssAnon),
looked up every 4 ms: pages of the mapped input are not in it."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"100 MB": 294_000, "1 GB": 2_925_000}  # events that make about so much
MB = 1_000_000


@dataclass
class Runs:
    """One command, run several times."""
    label: str
    command: list
    seconds: list = field(default_factory=list)
    peak: list = field(default_factory=list)

    def once(self):
        begin = time.perf_counter()
        with subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            watch = PeakWatch(process.pid)
            error = process.stderr.read()
            process.wait()
            self.seconds.append(time.perf_counter() - begin)
            self.peak.append(watch.stop())
        if process.returncode:
            sys.exit(f"{' '.join(map(str, self.command))}: exit {process.returncode}\n{error.decode()}")

    def time(self):
        return statistics.median(self.seconds)

    def span(self):
        return f"{self.time():.2f} s ({min(self.seconds):.2f} to {max(self.seconds):.2f})"


class PeakWatch:
    """The highest RssAnon of a process, in bytes."""

    def __init__(self, pid):
        self.status, self.peak, self.ended = f"/proc/{pid}/status", 0, threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self):
        while not self.ended.wait(0.004):
            try:
                with open(self.status, encoding="ascii", errors="replace") as file:
                    for line in file:
                        if line.startswith("RssAnon:"):
                            self.peak = max(self.peak, int(line.split()[1]) * 1024)
                            break
            except (OSError, ValueError):
                return

    def stop(self):
        self.ended.set()
        self.thread.join()
        return self.peak


def available_memory():
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


def warm(path):
    with open(path, "rb") as file:
        while file.read(16 * 1024 * 1024):
            pass


def make_trace(build, folder, events):
    path = folder / f"kineto-{events}.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(".part")
        subprocess.run([find_program(build, "gen_trace"), str(events), str(half)], check=True,
                       stdout=subprocess.DEVNULL)
        half.rename(path)
    return path


def find_program(build, name):
    for path in (build / name, build / "tests/bench" / name):
        if path.exists():
            return str(path)
    sys.exit(f"no {name} in {build}; build it: cmake --build {build} --target {name}")


def in_turns(runs, repeat):
    for _ in range(repeat):
        for run in runs:
            run.once()


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def load_rows(build, folder, repeat, label, events):
    path = make_trace(build, folder, events)
    size = path.stat().st_size
    warm(path)
    ours = Runs("warpline-cli ops", [find_program(build, "warpline-cli"), "ops", path, "--json"])
    peer = Runs("json.load", ["python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", path])
    fits = available_memory() > 7 * size  # json.load takes about five times the file
    in_turns([ours, peer] if fits else [ours], repeat)
    name = f"{label} ({size / MB:.0f} MB, {events:,} events)"
    yield (name, "warpline-cli ops", ours.span(), f"{size / MB / ours.time():.0f} MB/s",
           f"{max(ours.peak) / MB:.0f} MB", f"{max(ours.peak) / events:.0f}",
           f"{peer.time() / ours.time():.1f} times as fast" if fits else "")
    if fits:
        yield (name, "python3 json.load", peer.span(), f"{size / MB / peer.time():.0f} MB/s",
               f"{max(peer.peak) / MB:.0f} MB", f"{max(peer.peak) / events:.0f}", "1")
    else:
        yield name, "python3 json.load", "not run: too little memory", "", "", "", ""


def gzip_rows(build, folder, repeat, label, events):
    plain = make_trace(build, folder, events)
    path = plain.with_suffix(".json.gz")
    if not path.exists():
        with open(path, "wb") as out:
            subprocess.run(["gzip", "-6", "-c", str(plain)], check=True, stdout=out)
    warm(path)
    ours = Runs("warpline-cli ops", [find_program(build, "warpline-cli"), "ops", path, "--json"])
    peer = Runs("gzip -dc", ["gzip", "-dc", path])
    in_turns([ours, peer], repeat)
    name = f"{label}, .gz ({path.stat().st_size / MB:.0f} MB)"
    yield name, "warpline-cli ops", ours.span(), f"{ours.time() / peer.time():.2f}"
    yield name, "gzip -dc", peer.span(), "1"


def benchmark_rows(build, only):
    for program in sorted((build / "tests/bench").glob("bench_*")):
        if not os.access(program, os.X_OK) or not program.is_file() or (only and only not in program.name):
            continue
        run = subprocess.run([str(program), "--benchmark_format=json"], capture_output=True, text=True, check=False,
                             env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
        if run.returncode:
            sys.exit(f"{program.name}: exit {run.returncode}\n{run.stderr}")
        standard = {"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
                    "repetition_index", "threads", "iterations", "real_time", "cpu_time", "time_unit",
                    "aggregate_name", "aggregate_unit", "label"}
        for row in json.loads(run.stdout)["benchmarks"]:
            counters = ", ".join(f"{key} {value:.4g}" for key, value in row.items() if key not in standard)
            yield (program.name, row["name"], f"{row['real_time']:.3g} {row['time_unit']}",
                   ", ".join(filter(None, (counters, row.get("label")))))


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True,
                            check=False).stdout.strip()
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}, revision {commit or 'unknown'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="a release build (%(default)s)")
    parser.add_argument("--data", type=Path, help="where the traces are kept (BUILD/bench-data)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=("load", "gzip", "programs"), help="one part of it")
    parser.add_argument("--program", help="only benchmark programs with this in their name")
    parser.add_argument("--small", action="store_true", help="only the small trace")
    options = parser.parse_args()
    data = options.data or options.build / "bench-data"
    sizes = dict(list(SIZES.items())[:1]) if options.small else SIZES

    print(f"{machine()}; median (least to most) of {options.repeat} runs in turns.\n")
    if options.only in (None, "load"):
        table(("trace", "program", "time", "rate", "peak memory", "bytes an event", "against the peer"),
              [row for label, events in sizes.items()
               for row in load_rows(options.build, data, options.repeat, label, events)])
    if options.only in (None, "gzip"):
        table(("trace", "program", "time", "ratio"),
              [row for label, events in sizes.items()
               for row in gzip_rows(options.build, data, options.repeat, label, events)])
    if options.only in (None, "programs"):
        table(("program", "benchmark", "time", "counters"), benchmark_rows(options.build, options.program))


if __name__ == "__main__":
    main()
