# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""torch.profiler's op table worked out from a trace's JSON, slowly and plainly, by another way than the program's.

Numbers are exact: times are read as decimals and summed as whole nanoseconds."""
import collections
import gzip
import json
import pathlib
from decimal import Decimal

FIELDS = ('count', 'self_cpu_ns', 'cpu_total_ns', 'self_cuda_ns', 'cuda_total_ns')
# What a row of each kind is called by --rows.
ROWS = {'op': 'ops', 'annotation': 'annotations', 'runtime': 'runtime', 'device': 'kernels'}
KINDS = {'cpu_op': 'op', 'user_annotation': 'annotation', 'cuda_runtime': 'runtime', 'cuda_driver': 'runtime',
         'kernel': 'device', 'gpu_memcpy': 'device', 'gpu_memset': 'device'}
NOT_LISTED = {'[memory]', '[OutOfMemory]', 'profiler::_record_function_enter',
              'profiler::_record_function_enter_new', 'profiler::_record_function_exit', 'aten::is_leaf',
              'aten::output_nr', 'aten::_version'}


class Call:
    def __init__(self, event, kind):
        name = event['name']
        args = event.get('args', {})
        self.name = 'ProfilerStep*' if name.startswith('ProfilerStep#') else name
        self.kind = kind
        self.start = int(Decimal(event['ts']) * 1000)
        self.end = self.start + int(Decimal(event['dur']) * 1000)
        self.thread = (event['pid'], event['tid'])
        self.external = args.get('External id')
        self.shape = json.dumps(args['Input Dims'], default=int) if 'Input Dims' in args else None
        self.device = 0  # durations of the work that it launched itself
        self.parent = None
        self.children = []

    def duration(self):
        return self.end - self.start

    def device_total(self):
        """Its own work and that of everything below it; no recursion, calls nest deep."""
        total, todo = 0, [self]
        while todo:
            call = todo.pop()
            total += call.device
            todo += call.children
        return total


def read(path):
    data = pathlib.Path(path).read_bytes()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    document = json.loads(data, parse_float=Decimal)
    return document['traceEvents'] if isinstance(document, dict) else document


def calls_of(events):
    calls = [Call(e, KINDS[e['cat']]) for e in events
             if e.get('ph') == 'X' and e.get('cat') in KINDS and e['name'] not in NOT_LISTED]
    host = [c for c in calls if c.kind != 'device']
    device = [c for c in calls if c.kind == 'device']
    by_id = {}
    for c in host:
        if c.kind in ('op', 'annotation') and c.external is not None:
            by_id.setdefault(c.external, c)
    for c in device:  # work belongs to the innermost op that was open at its launch
        if c.external in by_id:
            by_id[c.external].device += c.duration()
    for c in host:  # a runtime call nests on the thread of its op
        if c.kind == 'runtime' and c.external in by_id:
            c.thread = by_id[c.external].thread
    return host, device


def nest(host):
    threads = collections.defaultdict(list)
    for c in host:
        threads[c.thread].append(c)
    for calls in threads.values():
        open_calls = []
        for c in sorted(calls, key=lambda c: (c.start, -c.end)):
            while open_calls and (c.start >= open_calls[-1].end or c.end > open_calls[-1].end):
                open_calls.pop()
            if open_calls:
                c.parent = open_calls[-1]
                c.parent.children.append(c)
            open_calls.append(c)


def merge_repeated(host):
    """An only child that has its parent's name is the same call, seen twice."""
    while True:
        merged = set()
        for c in host:
            p = c.parent
            if p is not None and p.name == c.name and len(p.children) == 1:
                p.children = c.children
                p.device += c.device
                for child in p.children:
                    child.parent = p
                merged.add(c)
        if not merged:
            return host
        host = [c for c in host if c not in merged]


def table(path, by_shape=False):
    """(name, kind) or (name, kind, shape) -> the numbers of FIELDS."""
    host, device = calls_of(read(path))
    nest(host)
    host = merge_repeated(host)
    rows = collections.defaultdict(lambda: [0] * len(FIELDS))

    def row(call):
        return rows[(call.name, call.kind, call.shape) if by_shape else (call.name, call.kind)]

    totals = {c: c.device_total() for c in host}
    for c in host:
        below = (1, c.duration() - sum(x.duration() for x in c.children), c.duration(),
                 totals[c] - sum(totals[x] for x in c.children), totals[c])
        target = row(c)
        for i, value in enumerate(below):
            target[i] += value
    for c in device:
        target = row(c)
        for i, value in enumerate((1, 0, 0, c.duration(), c.duration())):
            target[i] += value
    return {key: tuple(values) for key, values in rows.items()}
