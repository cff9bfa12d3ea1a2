# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""`memory` against numbers worked out independently, and the same snapshot in every form that is written."""
import gzip
import json
import pickle
import re
import shutil
import sqlite3
import subprocess
import unittest

from support import H200, SHARED, CommandLineTest, needs_shared_data


def snapshot_of(name):
    return next(H200.glob(f'{name}.snapshot.pickle*'))


def unpickled(name):
    path = snapshot_of(name)
    raw = path.read_bytes()
    if path.suffix == '.zst':
        raw = subprocess.run(['zstd', '-dcq', path], check=True, capture_output=True).stdout
    return pickle.loads(raw)


@needs_shared_data
class Memory(CommandLineTest):
    def agree(self, want, got, place=''):
        """Everything of `want` is in `got`, which may have more keys."""
        if isinstance(want, dict):
            for key, value in want.items():
                self.assertIn(key, got, place)
                self.agree(value, got[key], f'{place}/{key}')
        elif isinstance(want, list):
            self.assertEqual(len(want), len(got), place)
            for i, value in enumerate(want):
                self.agree(value, got[i], f'{place}/{i}')
        else:
            self.assertEqual(want, got, place)

    def test_equals_the_reference(self):
        references = sorted(H200.glob('*.memory.json'))
        self.assertEqual(len(references), 9)
        for reference in references:
            with self.subTest(reference.name):
                name = reference.name.removesuffix('.memory.json')
                if snapshot_of(name).suffix == '.zst' and not shutil.which('zstd'):
                    continue
                self.agree(json.loads(reference.read_text()), self.json('memory', snapshot_of(name)))

    def test_segments_agree_with_torchs_summary(self):
        units = {'B': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30}
        for summary in sorted(H200.glob('*.segsum.txt')):
            with self.subTest(summary.name):
                text = summary.read_text()
                device, = self.json('memory', snapshot_of(summary.name.removesuffix('.segsum.txt')))['devices']
                self.assertEqual(device['segments']['count'], int(re.search(r'^segments: (\d+)', text, re.M)[1]))
                for word, field in (('total_reserved', 'reserved_bytes'), ('total_allocated', 'requested_bytes')):
                    value, unit = re.search(rf'^{word}: ([\d.]+)(\w+)', text, re.M).groups()
                    if field == 'requested_bytes' and device['segments']['active_bytes'] != device['segments']['allocated_bytes']:
                        # Torch's summary leaves out blocks whose free is pending.
                        self.assertGreater(device['segments'][field] / units[unit], float(value))
                        continue
                    self.assertAlmostEqual(device['segments'][field] / units[unit], float(value), delta=0.051)

    def test_torchs_own_counters(self):
        for reference in sorted(H200.glob('*.snapshot.ref.json')):
            with self.subTest(reference.name):
                want = json.loads(reference.read_text())
                device, = self.json('memory', snapshot_of(reference.name.removesuffix('.snapshot.ref.json')))['devices']
                self.assertEqual(device['segments']['allocated_bytes'], want['allocated'])
                self.assertEqual(device['segments']['active_bytes'], want['active'])
                self.assertEqual(device['events'], want['trace_events'][0])

    def test_public_snapshots_open(self):
        files = sorted((SHARED / 'corpus' / 'memory_snapshot').glob('*'))
        self.assertGreater(len(files), 6)
        for file in files:
            with self.subTest(file.name):
                snapshot = pickle.loads(file.read_bytes())
                devices = self.json('memory', file)['devices']
                self.assertEqual(devices[0]['events'], len(snapshot['device_traces'][0]))
                self.assertEqual(devices[0]['segments']['reserved_bytes'], sum(s['total_size'] for s in snapshot['segments']))
                self.done('memory', file)
                self.done('info', file)

    def same(self, want, path):
        got = self.json('memory', path)
        self.assertEqual(want, got)

    def test_every_form(self):
        for name in ('truncated', 'pools', 'oom', 'gpt'):
            with self.subTest(name):
                snapshot = unpickled(name)
                want = self.json('memory', snapshot_of(name))
                for protocol in (2, 3, 4, 5):
                    path = self.folder / f'{name}.{protocol}.pickle'
                    path.write_bytes(pickle.dumps(snapshot, protocol=protocol))
                    self.same(want, path)
                path = self.folder / f'{name}.json'
                path.write_text(json.dumps(snapshot))
                self.same(want, path)
                path.write_text(json.dumps(snapshot, indent=1))
                self.same(want, path)
                path = self.folder / f'{name}.gz'
                path.write_bytes(gzip.compress(pickle.dumps(snapshot)))
                self.same(want, path)
                path = self.folder / f'{name}.turned.pickle'
                path.write_bytes(pickle.dumps(dict(reversed(snapshot.items()))))
                self.same(want, path)
                self.same(want, self.sqlite(snapshot, name, 'id', 'address'))
                self.same(want, self.sqlite(snapshot, name, 'segment_id', 'addr'))

    def sqlite(self, snapshot, name, key, address):
        """The tables of torch's SQLite form; what a segment's key and the address of a block are called is not sure."""
        path = self.folder / f'{name}.{key}.sqlite'
        db = sqlite3.connect(path)
        db.execute(f'CREATE TABLE segments ({key} INTEGER PRIMARY KEY, device INTEGER, {address} INTEGER, total_size INTEGER, '
                   'allocated_size INTEGER, active_size INTEGER, requested_size INTEGER, stream INTEGER, '
                   'segment_type TEXT, segment_pool_id TEXT, is_expandable INTEGER, frames TEXT)')
        db.execute(f'CREATE TABLE blocks (id INTEGER PRIMARY KEY, segment_id INTEGER, {address} INTEGER, size INTEGER, '
                   'requested_size INTEGER, state TEXT, frames TEXT)')
        db.execute('CREATE TABLE device_traces (id INTEGER PRIMARY KEY, device INTEGER, action TEXT, addr INTEGER, '
                   'size INTEGER, stream INTEGER, time_us INTEGER, device_free INTEGER, frames TEXT)')
        for i, s in enumerate(snapshot['segments']):
            db.execute('INSERT INTO segments VALUES (?,?,?,?,?,?,?,?,?,?,?,?)',
                       (i + 7, s['device'], s['address'], s['total_size'], s['allocated_size'], s['active_size'],
                        s.get('requested_size'), s['stream'], s['segment_type'],
                        json.dumps(s.get('segment_pool_id')), s.get('is_expandable'), json.dumps(s.get('frames', []))))
            for b in s['blocks']:
                db.execute('INSERT INTO blocks VALUES (NULL,?,?,?,?,?,?)',
                           (i + 7, b['address'], b['size'], b['requested_size'], b['state'], json.dumps(b.get('frames', []))))
        for device, trace in enumerate(snapshot['device_traces']):
            for e in trace:
                db.execute('INSERT INTO device_traces VALUES (NULL,?,?,?,?,?,?,?,?)',
                           (device, e['action'], e.get('addr'), e['size'], e['stream'], e.get('time_us'),
                            e.get('device_free'), json.dumps(e.get('frames', []))))
        db.commit()
        db.close()
        return path

    def test_hostile_sqlite(self):
        path = self.folder / 'view.sqlite'
        db = sqlite3.connect(path)
        db.execute('CREATE VIEW device_traces AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS size FROM r')
        db.commit()
        db.close()
        self.assertIn('without the tables', self.fails(1, 'memory', path))
        path.write_bytes(path.read_bytes()[:5000])
        self.fails(1, 'memory', path)

    def test_groups_and_moments(self):
        file = snapshot_of('gpt')
        for group in ('stack', 'frame', 'file', 'op', 'module', 'category', 'stream', 'pool', 'size'):
            for at in ('peak', 'end', 'event:100', '1ms'):
                document = self.json('memory', file, '--group', group, '--at', at)
                self.assertEqual(sum(h['bytes'] for h in document['holders']), document['at']['requested_bytes'])
                self.assertAlmostEqual(sum(h['share'] for h in document['holders']), 1)
        rows = self.done('memory', file, '--csv', '--limit', 3).splitlines()
        self.assertEqual(len(rows), 4)
        self.assertTrue(rows[0].startswith('label,bytes,'))

    def test_with_a_trace(self):
        document = self.json('memory', snapshot_of('gpt'), H200 / 'gpt.json.gz', '--group', 'op', '--at', '100ms')
        self.assertEqual(self.json('memory', H200 / 'gpt.json.gz', snapshot_of('gpt'), '--group', 'op', '--at', '100ms'), document)
        self.assertGreater(document['trace']['matched_allocations'], 1600)
        self.assertTrue(any(h['label'].startswith('aten::') for h in document['holders']))
        alone = self.json('memory', H200 / 'gpt.json.gz', '--group', 'op')
        self.assertTrue(any(h['label'].startswith('aten::') for h in alone['holders']))
        self.assertIn('do not overlap', self.fails(1, 'memory', snapshot_of('cnn'), H200 / 'gpt.json.gz'))
        self.assertIn('second file', self.fails(1, 'memory', snapshot_of('cnn'), snapshot_of('gpt')))

    def test_each_kind_for_its_command(self):
        self.assertIn('memory snapshot, not a trace', self.fails(1, 'ops', snapshot_of('gpt')))
        trace = self.folder / 'trace.json'
        trace.write_text('{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}')
        self.assertIn('profile_memory=True', self.fails(1, 'memory', trace))
        self.assertIn('there is no event', self.fails(1, 'memory', snapshot_of('gpt'), '--at', 'event:99999999'))
        self.assertIn('is no moment', self.fails(2, 'memory', snapshot_of('gpt'), '--at', 'noon'))
        self.assertIn('GPU 7', self.fails(1, 'memory', snapshot_of('gpt'), '--device', 7))
        file, = self.json('info', snapshot_of('truncated'))['files']
        self.assertEqual(file['format'], 'PyTorch memory snapshot (pickle)')
        self.assertIn('unmatched_frees', [d['id'] for d in file['diagnostics']])


if __name__ == '__main__':
    unittest.main()
