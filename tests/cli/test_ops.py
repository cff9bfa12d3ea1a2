# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""The op table against torch's rules in plain Python, and against torch's own key_averages()."""
import json
import unittest

import ops_reference
from support import DATA, H200, CommandLineTest, events_of, load, needs_shared_data

TRACES = ('quick.json', 'compiled.json', 'streams.json')
SHARED_TRACES = ('quick.json', 'gpt.json.gz', 'cnn.json.gz', 'compiled.json', 'streams.json', 'nccl.json.gz',
                 'bottleneck_launch_bound.json.gz', 'bottleneck_syncs.json.gz', 'large.json.gz')
# Rows where torch's own numbers are of another make (overhead events taken for ops, collectives taken for
# asynchronous ones, spans for work) and are not what a reader wants.
NOT_COMPARED = ('Activity Buffer Request', 'Lazy Function Loading', 'Lazy Function Unloading', '[memory]',
                'nccl:all_reduce', 'record_param_comms')


def numbers(row):
    return tuple(row[field] for field in ops_reference.FIELDS)


def torch_shape(shape):
    return json.dumps([[] if any(isinstance(x, list) for x in one) else one for one in shape or []])


def stem(name):
    return name.split('.json')[0]


class Ops(CommandLineTest):
    maxDiff = 4000

    def rows(self, trace, kind, *options):
        return self.json('ops', trace, '--rows', kind, '--limit', '0', *options)['rows']

    def assert_equal_tables(self, want, have):
        wrong = sorted((k for k in want.keys() | have.keys() if want.get(k) != have.get(k)), key=str)
        report = '\n'.join(f'{k}: have {have.get(k)}, want {want.get(k)}' for k in wrong[:8])
        self.assertFalse(wrong, f'{len(wrong)} of {len(want)} rows differ\n{report}')
        self.assertGreater(len(want), 0)

    def check_against_numbers(self, trace, reference):
        want = {(r['name'], r['kind']): numbers(r) for r in json.loads(reference.read_text())}
        have = {(r['name'], kind): numbers(r) for kind, rows in ops_reference.ROWS.items()
                for r in self.rows(trace, rows)}
        self.assert_equal_tables(want, have)

    def test_rows_equal_the_kept_numbers(self):
        for name in TRACES:
            with self.subTest(name):
                self.check_against_numbers(DATA / name, DATA / f'{stem(name)}.ops.json')

    @needs_shared_data
    def test_rows_equal_the_kept_numbers_of_all_traces(self):
        for name in SHARED_TRACES:
            with self.subTest(name):
                self.check_against_numbers(H200 / name, H200 / f'{stem(name)}.ops.json')

    def test_rows_by_shape(self):
        traces = [DATA / name for name in TRACES]
        if H200.is_dir():
            traces.append(H200 / 'gpt.json.gz')
        for trace in traces:
            with self.subTest(trace.name):
                want = {k: v for k, v in ops_reference.table(trace, by_shape=True).items() if k[1] == 'op'}
                have = {(r['name'], 'op', json.dumps(r['input_shapes']) if r['input_shapes'] is not None else None):
                        numbers(r) for r in self.rows(trace, 'ops', '--group', 'shape')}
                self.assert_equal_tables(want, have)

    def test_python_rows_are_the_python_functions(self):
        trace = H200 / 'gpt.json.gz' if H200.is_dir() else DATA / 'compiled.json'
        names = {}
        for e in events_of(load(trace)):
            if e.get('cat') == 'python_function':
                names[e['name']] = names.get(e['name'], 0) + 1
        self.assertEqual({r['name']: r['count'] for r in self.rows(trace, 'python')}, names)

    def test_totals(self):
        for name in TRACES:
            with self.subTest(name):
                want = json.loads((DATA / f'{stem(name)}.ops.json').read_text())
                totals = self.json('ops', DATA / name)['totals']
                self.assertEqual(totals['self_cpu_ns'], sum(r['self_cpu_ns'] for r in want))
                self.assertEqual(totals['self_cuda_ns'],
                                 sum(r['self_cuda_ns'] for r in want if r['kind'] == 'device'))
                self.assertLessEqual(totals['gpu_busy_ns'], min(totals['self_cuda_ns'], totals['span_ns']))
                self.assertGreater(totals['gpu_busy_ns'], 0)

    def test_a_range_takes_what_starts_in_it(self):
        trace = DATA / 'quick.json'
        info = self.json('info', trace)['files'][0]
        middle = info['start_ns'] + info['duration_ns'] // 2
        whole = {r['name']: r['count'] for r in self.rows(trace, 'runtime')}
        parts = {}
        for part in (f':{middle}', f'{middle}:'):
            for r in self.rows(trace, 'runtime', '--range', part):
                parts[r['name']] = parts.get(r['name'], 0) + r['count']
        self.assertEqual(parts, whole)
        self.assertLess(sum(r['count'] for r in self.rows(trace, 'runtime', '--range', f':{middle}')),
                        sum(whole.values()))

    @needs_shared_data
    def test_a_step_is_its_range(self):
        trace = H200 / 'gpt.json.gz'
        steps = self.json('info', trace)['files'][0]['steps']
        self.assertEqual(len(steps), 3)
        whole = {r['name']: r['count'] for r in self.rows(trace, 'ops')}
        for step in steps:
            part = {r['name']: r['count'] for r in self.rows(trace, 'ops', '--step', step['number'])}
            by_range = {r['name']: r['count'] for r in self.rows(
                trace, 'ops', '--range', f"{step['start_ns']}:{step['start_ns'] + step['duration_ns']}")}
            self.assertEqual(part, by_range)
            self.assertEqual(part['aten::layer_norm'] * 3, whole['aten::layer_norm'])

    def averages(self, trace, reference, by_shape=False):
        """How many of torch's rows agree to 2 ns an event, and what the others are."""
        options = ('--group', 'shape') if by_shape else ()
        have = {}
        for rows, device in (('ops', 'CPU'), ('annotations', 'CPU'), ('runtime', 'CPU'), ('kernels', 'CUDA')):
            for r in self.rows(trace, rows, *options):
                # torch leaves the shapes inside a list of tensors out: such rows come together.
                key = (r['name'], device, torch_shape(r['input_shapes']) if by_shape else None)
                have[key] = tuple(map(sum, zip(have[key], numbers(r)))) if key in have else numbers(r)
        agree, others = 0, []
        for r in json.loads(reference.read_text()):
            device = 'CPU' if 'CPU' in r['device_type'] else 'CUDA'
            gpu_annotation = device == 'CUDA' and (
                r['is_user_annotation'] or any(k[:2] == (r['key'], 'CPU') for k in have))
            if r['key'] in NOT_COMPARED or r['key'].startswith(('ProfilerStep', 'cuda', 'cu')) or gpu_annotation:
                continue
            want = (r['count'], *(round(1000 * r[f]) for f in ('self_cpu_us', 'cpu_us', 'self_cuda_us', 'cuda_us')))
            got = have.get((r['key'], device, r['shapes'] if by_shape else None))
            if got and got[0] == want[0] and all(abs(a - b) <= 2 * want[0] for a, b in zip(got, want)):
                agree += 1
            else:
                others.append(f"{device} {r['key'][:70]} {r['shapes'] or ''}: have {got}, torch says {want}")
        return agree, others

    @needs_shared_data
    def test_agrees_with_torch(self):
        for name, least in (('gpt', 0.95), ('cnn', 0.95), ('compiled', 0.95), ('nccl', 0.95), ('quick', 0.90),
                            ('gpt_by_shape', 0.95)):
            with self.subTest(name):
                trace = next(p for p in (H200 / f'{stem(name).split("_by_")[0]}{e}' for e in ('.json', '.json.gz'))
                             if p.exists())
                agree, others = self.averages(trace, H200 / f'{name}.averages.json', name.endswith('_by_shape'))
                share = agree / (agree + len(others))
                print(f'{name}: {agree} rows agree with torch, {len(others)} do not: {share:.3f}',
                      *others, sep='\n  ')
                self.assertGreaterEqual(share, least)


if __name__ == '__main__':
    unittest.main()
