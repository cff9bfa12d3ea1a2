# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""convert keeps all of a trace: by the program's own tables and by Python's reading of both files."""
import collections
import gzip
import json
import pathlib
import unittest
from decimal import Decimal

from support import DATA, H200, SHARED, CommandLineTest, cli, events_of, needs_shared_data

SMALL = ('quick.json', 'compiled.json', 'streams.json')


def exact(path):
    data = pathlib.Path(path).read_bytes()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    # Numbers as they stand: none may gain or lose a digit.
    return json.loads(data, parse_float=lambda text: ('decimal', text))


def nanoseconds(value):
    return int(Decimal(value[1] if isinstance(value, tuple) else value) * 1000)


def plain_events(document):
    """Events as comparable texts, without what is allowed to change: order, how a time is spelled."""
    out = collections.Counter()
    for event in events_of(document):
        event = dict(event)
        if event.get('ph') == 'M':
            event.pop('ts', None)
            event.pop('cat', None)
            # Written once, however often it was in the file.
            out[json.dumps(event, sort_keys=True)] = 1
            continue
        for field in ('ts', 'dur'):
            if field in event:
                event[field] = nanoseconds(event[field])
        if event.get('ph') in ('s', 't', 'f'):
            event.pop('args', None) if event.get('args') == {} else None
        if event.get('args') == {}:
            del event['args']
        out[json.dumps(event, sort_keys=True)] += 1
    return out


class RoundTrip(CommandLineTest):
    maxDiff = 4000

    def summary(self, path):
        file, = self.json('info', path)['files']
        for field in ('path', 'bytes', 'compression', 'metadata_events'):
            file.pop(field)
        for row in file['diagnostics']:
            row.pop('first_offset')
            row.pop('first_time_ns')
        events = file.pop('events')
        return file, events

    def check_tables(self, source, copy):
        before, events = self.summary(source)
        after, events_after = self.summary(copy)
        self.assertEqual(after, before)
        self.assertLessEqual(events_after, events)  # a metadata event comes once, a pair of B and E as one
        for rows in ('ops', 'annotations', 'kernels', 'runtime', 'python'):
            self.assertEqual(self.json('ops', copy, '--rows', rows), self.json('ops', source, '--rows', rows), rows)
        self.assertEqual(self.json('ops', copy, '--group', 'shape'), self.json('ops', source, '--group', 'shape'))
        self.assertEqual(self.json('kernels', copy), self.json('kernels', source))

    def check_events(self, source, copy):
        before, after = exact(source), exact(copy)
        want, have = plain_events(before), plain_events(after)
        lost, new = want - have, have - want
        self.assertFalse(lost or new, f'lost {list(lost)[:3]}\nnew {list(new)[:3]}')
        self.assertEqual({k: v for k, v in after.items() if k != 'traceEvents'},
                         {k: v for k, v in before.items() if k != 'traceEvents'})

    def test_small_traces(self):
        for name in SMALL:
            with self.subTest(name):
                copy = self.folder / f'{name}.gz'
                self.done('convert', DATA / name, copy)
                self.assertEqual(copy.read_bytes()[:2], b'\x1f\x8b')
                self.check_tables(DATA / name, copy)
                self.check_events(DATA / name, copy)

    def test_one_of_everything(self):
        copy = self.folder / 'copy.json'
        self.done('convert', DATA / 'everything.json', copy)
        self.assertEqual(self.summary(copy)[0], self.summary(DATA / 'everything.json')[0])
        phases = collections.Counter(e['ph'] for e in events_of(exact(copy)))
        self.assertEqual(phases, {'M': 2, 'X': 7, 'B': 1, 'i': 2, 'b': 1, 'n': 1, 'e': 1, 'N': 1, 'D': 1, 'C': 2,
                                  's': 1, 'f': 1})

    def test_through_a_pipe(self):
        text = self.done('convert', DATA / 'streams.json', '-')
        copy = self.folder / 'copy.json'
        copy.write_text(text)
        self.check_events(DATA / 'streams.json', copy)

    def test_tells_what_it_wrote(self):
        copy = self.folder / 'copy.json.gz'
        told = self.json('convert', DATA / 'streams.json', copy)
        self.assertEqual(told, {'path': str(copy), 'bytes': copy.stat().st_size})

    def test_in_place(self):
        """A cut recording keeps its name until the repaired one is whole."""
        text = (DATA / 'streams.json').read_text()
        trace = self.folder / 'trace.json'
        trace.write_text(text[:len(text) * 2 // 3])
        before = self.json('ops', trace)
        self.done('convert', trace, trace)
        self.assertEqual(self.json('ops', trace), before)
        json.loads(trace.read_text())
        self.assertEqual([p.name for p in self.folder.iterdir()], ['trace.json'])

    def test_range(self):
        source = DATA / 'quick.json'
        info, _ = self.summary(source)
        begin = info['start_ns'] + info['duration_ns'] // 3
        end = begin + info['duration_ns'] // 3
        copy = self.folder / 'cut.json'
        self.done('convert', source, copy, '--range', f'{begin}:{end}')
        base = exact(source)['baseTimeNanoseconds']

        def inside(event):
            start = base + nanoseconds(event['ts'])
            stop = start + nanoseconds(event.get('dur', 0))
            return start < end and (stop > begin or start == stop == begin)

        want = [e for e in events_of(exact(source)) if e['ph'] in 'Xi' and inside(e)]
        have = [e for e in events_of(exact(copy)) if e['ph'] in 'Xi']
        self.assertEqual(len(have), len(want))
        self.assertGreater(len(want), 50)

        def arrows(path):
            return collections.Counter((e['cat'], e['id']) for e in events_of(exact(path)) if e['ph'] in 'sf')

        # Arrows are kept with all their ends or not at all.
        all_arrows = arrows(source)
        kept = arrows(copy)
        self.assertGreater(len(kept), 10)
        self.assertEqual(kept, {key: all_arrows[key] for key in kept})
        self.assertEqual(exact(copy)['deviceProperties'], exact(source)['deviceProperties'])

    @needs_shared_data
    def test_all_traces(self):
        for source in sorted(H200.glob('*.json.gz')):
            if not source.with_name(source.name.replace('.json.gz', '.ops.json')).exists():
                continue
            with self.subTest(source.name):
                copy = self.folder / source.name
                self.done('convert', source, copy)
                self.check_tables(source, copy)
                if source.stat().st_size < 2_000_000:
                    self.check_events(source, copy)
                copy.unlink()

    @needs_shared_data
    def test_public_traces(self):
        """Whatever opens comes out as strict JSON, and opens again as the same."""
        for source in sorted((SHARED / 'corpus').glob('[ck][hi]*/*')):
            opened = cli('info', source, '--json')
            if opened.returncode != 0 or len(json.loads(opened.stdout)['files']) != 1:
                continue
            if json.loads(opened.stdout)['files'][0]['format'].startswith('speedscope'):
                continue  # a profile without times is no trace
            with self.subTest(source.name):
                copy = self.folder / 'copy.json'
                self.done('convert', source, copy)
                json.loads(copy.read_bytes().decode('utf-8'), parse_constant=self.fail)
                before, after = self.summary(source)[0], self.summary(copy)[0]
                for field in ('slices', 'counters', 'links', 'memory_records', 'flow_events', 'start_ns',
                              'duration_ns', 'processes', 'devices', 'rank', 'steps'):
                    self.assertEqual(after[field], before[field], field)
                self.assertEqual(self.json('ops', copy), self.json('ops', source))


if __name__ == '__main__':
    unittest.main()
