# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""Recordings made on an H200 by tests/gpu/prove.py: counted.wpl of counted.cu, torch.wpl of train.py with --torch."""
import collections
import json
import unittest

from support import DATA, CommandLineTest, events_of

RECORDINGS = DATA / 'recordings'


class Recordings(CommandLineTest):
    def converted(self, name):
        out = self.folder / 'trace.json'
        self.done('convert', RECORDINGS / name, out)
        return out, events_of(json.loads(out.read_text()))

    def test_counts_are_what_the_program_counted(self):
        # What it printed: {"kernels": 560, "copies": 120, "sets": 40, "ranges": 120, "copied_bytes": 125829120,
        # "set_bytes": 41943040, "rounds": 40}
        _, events = self.converted('counted.wpl')
        by = collections.defaultdict(list)
        for event in events:
            by[event.get('cat')].append(event)
        self.assertEqual(len(by['kernel']), 560)
        self.assertEqual(len(by['gpu_memcpy']), 120)
        self.assertEqual(sum(e['args']['bytes'] for e in by['gpu_memcpy']), 125829120)
        self.assertEqual(len(by['gpu_memset']), 40)
        self.assertEqual(sum(e['args']['bytes'] for e in by['gpu_memset']), 41943040)
        self.assertEqual(collections.Counter(e['name'] for e in by['user_annotation']),
                         {'round': 40, 'copies': 40, 'kernels': 40})
        self.assertEqual(sum('graph id' in e['args'] for e in by['kernel']), 40 * 5)
        self.assertIn('(anonymous namespace)::saxpy(int, float, float const*, float*)', {e['name'] for e in by['kernel']})
        file, = self.json('info', RECORDINGS / 'counted.wpl')['files']
        self.assertEqual(file['links_by_kind']['launch'], 560 + 120 + 40)
        self.assertEqual(file['devices'][0]['name'], 'NVIDIA H200')

    def test_kernels_lead_to_ops(self):
        file, = self.json('info', RECORDINGS / 'torch.wpl')['files']
        self.assertEqual(file['links_by_kind']['op'], file['links_by_kind']['launch'])
        self.assertEqual([s['number'] for s in file['steps']], list(range(9)))
        rows = {r['name']: r for r in self.json('ops', RECORDINGS / 'torch.wpl')['rows']}
        self.assertEqual(rows['aten::mm']['count'], 88)
        total = sum(r['self_cuda_ns'] for r in rows.values())
        _, events = self.converted('torch.wpl')
        device = sum(round(e['dur'] * 1000) for e in events if e.get('cat') in ('kernel', 'gpu_memcpy', 'gpu_memset'))
        self.assertEqual(total, device)

    def test_an_op_owns_what_its_calls_take(self):
        # The driver gives memory inside cudaMalloc, which is no row of its own.
        rows = {r['name']: r for r in self.json('ops', RECORDINGS / 'torch.wpl')['rows']}
        self.assertEqual(rows['aten::addmm']['self_cuda_mem_bytes'], rows['aten::addmm']['cuda_mem_bytes'])
        self.assertGreater(rows['aten::addmm']['self_cuda_mem_bytes'], 400 << 20)

    def test_a_trace_made_of_one_keeps_its_memory(self):
        out, events = self.converted('counted.wpl')
        memory = [e for e in events if e['name'] == '[memory]']
        self.assertEqual(len(memory), 83)
        self.assertTrue(all(e['args']['Bytes'] != 0 for e in memory))
        before, = self.json('info', RECORDINGS / 'counted.wpl')['files']
        after, = self.json('info', out)['files']
        for field in ('slices', 'memory_records', 'links_by_kind'):
            self.assertEqual(before[field], after[field])
        allocated = [e['args'] for e in memory if e['args']['Bytes'] > 0]
        self.assertEqual(sum(a['Bytes'] for a in allocated if a['Device Id'] < 0), 1 << 20)


if __name__ == '__main__':
    unittest.main()
