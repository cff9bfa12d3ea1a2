#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""Runs "warpline-cli info --json" over public trace files and compares what it says with what Python's json reads.

Every file opens with all its events, or is refused by a sentence that says what it is. Prints one line for each thing
that is wrong and leaves with 1; with 77 where the files are not there.
"""
import argparse
import collections
import gzip
import io
import json
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile
from fractions import Fraction

# What is no Chrome trace, and what must be said of it.
REFUSED = {
    "chrome/tracelens_rocprofv3_results.json.gz": "rocprofv3",
    "kineto/hta_memory_timeline_raw.json.gz": "raw memory timeline",
    "kineto/intel_xpu_profiler_mock_events.json": "PyTorch's own tests",
    "kineto/malformed_empty_0_bytes_msprof.json": "empty (0 bytes)",
    "kineto/malformed_macos_appledouble__huvideo_rank_0.json": "AppleDouble",
}

# What is no trace but is read all the same: the format that must be told.
PROFILES = {"chrome/speedscope_invalid_out_of_order.json": "speedscope profile"}

# Not JSON: how many events a reader sees who takes them one by one.
BROKEN = {
    "chrome/malformed_speedscope_object_partial.json": 5,
    "chrome/malformed_speedscope_partial.json": 6,
    "chrome/malformed_speedscope_partial_trailing_comma.json": 6,
    "chrome/malformed_speedscope_partial_whitespace.json": 6,
}


# Small files that are damaged here, in every way that happens to files, and must come out of "convert" as strict JSON.
DAMAGED = [
    "kineto/kineto_docs_after_fix_trace.json",
    "kineto/hta_backward_thread.json",
    "kineto/torchbench_old_trace.json",
    "kineto/ibm_aiu_basic_event_cases.json",
    "chrome/catapult_flow_simple.json",
    "chrome/te_multi_thread_with_samples.json",
    "chrome/viztracer_function_args_return.json",
]


def documents(path):
    """The texts in a file: one, or one for each member of a tar."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if path.name.endswith(".tar.gz"):
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return [tar.extractfile(m).read() for m in tar.getmembers()
                    if m.isfile() and not m.name.rsplit("/", 1)[-1].startswith("._")]
    return [data]


def nanoseconds(microseconds, base):
    return base + int(Fraction(microseconds) * 1000)


class Expected:
    """What a trace must hold, from its parsed JSON; numbers with a point come as text, so that they stay exact."""

    def __init__(self, document):
        self.events = document if isinstance(document, list) else document["traceEvents"]
        self.phases = collections.Counter(e.get("ph") for e in self.events)
        base = 0 if isinstance(document, list) else int(document.get("baseTimeNanoseconds", 0))
        memory = sum(1 for e in self.events
                     if e.get("ph") in ("i", "I") and e.get("name") in ("[memory]", "[OutOfMemory]"))
        instants = sum(self.phases[p] for p in "iI") - memory
        # With anything but these in the file, what makes a slice is not just counted.
        simple = set(self.phases) <= set("XiIMsftC")
        self.slices = self.phases["X"] + instants if simple else None
        spans = [e for e in self.events if e.get("ph") == "X" and "dur" in e]
        self.end = max((nanoseconds(e["ts"], base) + max(0, nanoseconds(e["dur"], 0)) for e in spans), default=None)


def run(cli, path):
    return subprocess.run([cli, "info", "--json", str(path)], capture_output=True, text=True, timeout=120)


def check_refused(result, sentence):
    lines = result.stderr.strip().splitlines()
    if result.returncode != 1:
        yield f"left with {result.returncode}, not with 1"
    if len(lines) != 1 or sentence not in lines[0]:
        yield f'said "{result.stderr.strip()}", without "{sentence}"'


def check_profile(result, kind):
    if result.returncode != 0:
        yield f"left with {result.returncode}: {result.stderr.strip()}"
        return
    for got in json.loads(result.stdout)["files"]:
        if got["format"] != kind:
            yield f"taken for a {got['format']}"
        if not got["diagnostics"]:
            yield "nothing says that its events are out of order"


def check_opened(result, texts, broken):
    if result.returncode != 0:
        yield f"left with {result.returncode}: {result.stderr.strip()}"
        return
    files = json.loads(result.stdout)["files"]
    if len(files) != len(texts):
        yield f"{len(files)} traces instead of {len(texts)}"
        return
    for got, text in zip(files, texts):
        if broken is not None:
            if got["events"] != broken:
                yield f"{got['events']} events instead of {broken}"
            if not got["diagnostics"]:
                yield "nothing says that the file is broken"
            continue
        want = Expected(json.loads(text.decode("utf-8-sig"), parse_float=str))
        if got["events"] != len(want.events):
            yield f"{got['events']} events instead of {len(want.events)}"
        if got["counters"] != want.phases["C"]:
            yield f"{got['counters']} counter events instead of {want.phases['C']}"
        if want.slices is not None and got["slices"] != want.slices:
            yield f"{got['slices']} slices instead of {want.slices}"
        end = got["start_ns"] + got["duration_ns"]
        if want.slices is not None and want.end is not None and end < want.end:
            yield f"ends at {end} ns, before its last event does at {want.end} ns"
        for d in got["diagnostics"]:
            if d["count"] < 1 or not d["message"].endswith("."):
                yield f"a diagnostic that says nothing: {d}"


def damage(text, rng):
    """A few bytes of a text changed, lost or too many, as a bad writer or a bad disk does it."""
    text = bytearray(text)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text))
        kind = rng.randrange(6)
        if kind == 0:
            text[at:at] = rng.choice([b"NaN", b"\n", b"\x01", b'"', b"\\", b",", b"\xff", b"}", b"{", b"]", b"[", b":", b"{}"])
        elif kind == 1:
            text[at] = rng.randrange(256)
        elif kind == 2:
            del text[at:at + rng.randint(1, 40)]
        elif kind == 3:
            text[at:at] = text[at:at + rng.randint(1, 200)]
        elif kind == 4 and rng.randrange(3) == 0:
            del text[at:]
            if not text:
                return b"["
        else:
            point = text.find(b": ", at)
            if point >= 0:
                text[point + 2:point + 3] = rng.choice([b"nan", b"-Infinity", b'a"b"', b".5", b"0x1"])
    return bytes(text)


def no_constant(word):
    raise ValueError(f"{word} is not JSON")


def check_damaged(cli, path, folder):
    """What was repaired is written again as JSON that a strict reader takes."""
    rng = random.Random(path.name)
    text = path.read_bytes()
    opened = 0
    for variant in range(12):
        source, target = folder / "damaged.json", folder / "converted.json"
        source.write_bytes(damage(text, rng))
        result = subprocess.run([cli, "convert", str(source), str(target)], capture_output=True, text=True, timeout=120)
        if result.returncode == 1 and result.stderr.count("\n") == 1 and len(result.stderr) > 20:
            continue
        if result.returncode != 0:
            yield f"variant {variant}: convert left with {result.returncode}: {result.stderr.strip()[-300:]}"
            continue
        opened += 1
        try:
            json.loads(target.read_bytes().decode("utf-8"), parse_constant=no_constant)
        except ValueError as error:
            yield f"variant {variant}: convert wrote what is not JSON: {error}"
    if opened < 8:
        yield f"only {opened} of 12 damaged variants opened"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cli", required=True, help="the program to check")
    parser.add_argument("--corpus", required=True, type=pathlib.Path, help="the folder with the public files")
    parser.add_argument("names", nargs="*", help="only these files of the corpus, as kineto/NAME")
    options = parser.parse_args()
    if not options.corpus.is_dir():
        print(f"{options.corpus} is not there; nothing was checked")
        return 77
    paths = sorted(p for folder in ("kineto", "chrome") for p in (options.corpus / folder).iterdir())
    wrong = checked = 0
    for path in paths:
        name = path.relative_to(options.corpus).as_posix()
        if options.names and name not in options.names:
            continue
        checked += 1
        result = run(options.cli, path)
        if name in REFUSED:
            complaints = check_refused(result, REFUSED[name])
        elif name in PROFILES:
            complaints = check_profile(result, PROFILES[name])
        else:
            complaints = check_opened(result, documents(path), BROKEN.get(name))
        for complaint in complaints:
            wrong += 1
            print(f"{name}: {complaint}")
    with tempfile.TemporaryDirectory() as folder:
        for name in DAMAGED:
            if options.names and name not in options.names:
                continue
            for complaint in check_damaged(options.cli, options.corpus / name, pathlib.Path(folder)):
                wrong += 1
                print(f"{name}, damaged: {complaint}")
    print(f"{checked} files, {wrong} complaints")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
