# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""Flame graphs, ops by stack and module, and the tree of modules, against sums in plain Python."""
import collections
import gzip
import json
import pathlib
import re
import unittest
import xml.etree.ElementTree
from fractions import Fraction

from support import DATA, H200, SHARED, CommandLineTest, cli, events_of, needs_shared_data

DEVICE = {'kernel', 'gpu_memcpy', 'gpu_memset', 'Kernel', 'Memcpy', 'Memset'}
HOST = {'cpu_op', 'user_annotation', 'python_function', 'cuda_runtime', 'cuda_driver', 'Operator', 'Runtime'}
KINETO = SHARED / 'corpus' / 'kineto'
FLAME = SHARED / 'corpus' / 'flame'
# Traces whose events are all complete ones of categories that PyTorch and CUDA have: sums are easy there.
SIMPLE = ('dtu_mlops_trace.json', 'hta_alexnet_critical_path.json.gz', 'hta_distributed_info_missing.json.gz',
          'hta_nccl_meta.json.gz', 'hta_ns_resolution_rank0.pt.trace.json.gz', 'hta_sampled_rank0.json.gz',
          'kineto_docs_after_fix_trace.json', 'kineto_tb_resnet50_nw0_2021.pt.trace.json.gz',
          'ncompass_test_trace.pt.trace.json', 'param_linear_kineto.json.gz', 'tracelens_b200_eager.json.gz',
          'tracelens_h100_owlv2.json.gz', 'tracelens_mi210_gpu_only.json.gz',
          'tracelens_vllm_decode_graph_exec.json.gz')


def nanoseconds(microseconds):
    """As the program reads it: what is finer than a nanosecond is cut off."""
    return int(Fraction(microseconds) * 1000)


def load(path):
    data = pathlib.Path(path).read_bytes()
    data = gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data
    return [e for e in events_of(json.loads(data, parse_float=str, strict=False)) if isinstance(e, dict)]


def gpu_sum(events):
    return sum(nanoseconds(e['dur']) for e in events if e.get('ph') == 'X' and e.get('cat') in DEVICE)


def root_spans(events):
    """Sum of the spans of each thread that no other span of the thread holds whole."""
    threads = collections.defaultdict(list)
    for e in events:
        if e.get('ph') == 'X' and e.get('cat') in HOST and 'dur' in e:
            start = nanoseconds(e['ts'])
            threads[e['pid'], e['tid']].append((start, -(start + max(0, nanoseconds(e['dur'])))))
    total = 0
    for spans in threads.values():
        spans.sort()
        latest = None
        for start, end in spans:
            # Whatever holds this one whole began before it: the latest end of those tells.
            if latest is None or -end > latest or start >= latest:
                total += -end - start
            latest = -end if latest is None else max(latest, -end)
    return total


def collapsed_sums(text):
    """Totals by frame (each stack once) and the sum of all."""
    frames, total = collections.Counter(), 0
    for line in text.splitlines():
        names, weight = line.rsplit(' ', 1)
        for name in set(names.split(';')):
            frames[name] += int(weight)
        total += int(weight)
    return total, frames


class Flame(CommandLineTest):
    maxDiff = 4000

    def tree(self, *arguments):
        return self.json('flame', *arguments)

    def check_sums(self, path):
        events = load(path)
        self.assertEqual(self.tree(path, '--weight', 'cuda')['total'], gpu_sum(events))
        self.assertEqual(self.tree(path, '--weight', 'cpu')['total'], root_spans(events))
        for options in (('--direction', 'bottom-up'), ('--by-module',), ('--by-thread',), ('--python',),
                        ('--merge', '--hide-plumbing'), ('--backward', 'own')):
            self.assertEqual(self.tree(path, '--weight', 'cuda', *options)['total'], gpu_sum(events), options)
            self.assertEqual(self.tree(path, '--weight', 'cpu', *options)['total'], root_spans(events), options)

    def test_sums_of_kept_traces(self):
        for name in ('quick.json', 'compiled.json', 'streams.json'):
            with self.subTest(name):
                self.check_sums(DATA / name)

    @needs_shared_data
    def test_sums_of_recorded_traces(self):
        for name in ('gpt.json.gz', 'cnn.json.gz', 'compiled.json', 'nccl.json.gz'):
            with self.subTest(name):
                self.check_sums(H200 / name)

    @needs_shared_data
    def test_sums_of_public_traces(self):
        for name in SIMPLE:
            with self.subTest(name):
                events = load(KINETO / name)
                self.assertEqual(self.tree(KINETO / name, '--weight', 'cuda')['total'], gpu_sum(events))
                self.assertEqual(self.tree(KINETO / name, '--weight', 'cpu')['total'], root_spans(events))

    @needs_shared_data
    def test_gpu_time_has_the_program_in_its_stack(self):
        for name in ('gpt.json.gz', 'cnn.json.gz', 'large.json.gz'):
            with self.subTest(name):
                coverage = self.tree(H200 / name, '--weight', 'cuda')['coverage']
                self.assertGreaterEqual(coverage['script_or_module'], 0.99 * coverage['total'])
                self.assertGreater(coverage['backward'], 0.4 * coverage['total'])
                self.assertEqual(coverage['missing'], 0)
                text = self.done('flame', H200 / name, '--weight', 'cuda')
                share = re.search(r'is in the stack of ([\d.]+)%', text)
                self.assertGreaterEqual(float(share.group(1)), 99.0)

    def test_what_has_no_stack_is_named(self):
        trace = self.folder / 'lost.json'
        trace.write_text('[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}]')
        self.assertEqual(self.done('flame', trace, '--format', 'collapsed'), '(no launch recorded);k 2000\n')

    def test_steps_and_ranges(self):
        trace = H200 / 'gpt.json.gz' if H200.is_dir() else DATA / 'quick.json'
        info = self.json('info', trace)['files'][0]
        events = load(trace)
        first = info['start_ns']
        middle = first + info['duration_ns'] // 2
        halves = [self.tree(trace, '--weight', 'cpu', '--range', r)['total'] for r in (f':{middle}', f'{middle}:')]
        self.assertEqual(sum(halves), root_spans(events))
        self.assertTrue(all(halves))
        for step in info['steps']:
            by_step = self.tree(trace, '--step', step['number'])['total']
            end = step['start_ns'] + step['duration_ns']
            self.assertEqual(by_step, self.tree(trace, '--range', f"{step['start_ns']}:{end}")['total'])
            ops = self.json('ops', trace, '--step', step['number'])['totals']
            self.assertEqual(by_step, ops['self_cuda_ns'])

    def test_formats_agree_and_open_again(self):
        trace = H200 / 'gpt.json.gz' if H200.is_dir() else DATA / 'quick.json'
        for weight in ('cuda', 'cpu', 'calls'):
            options = ('--weight', weight, '--merge', '--hide-plumbing')
            tree = self.tree(trace, *options)
            collapsed = self.folder / 'x.txt'
            collapsed.write_text(self.done('flame', trace, *options, '--format', 'collapsed'), encoding='utf-8')
            total, frames = collapsed_sums(collapsed.read_text(encoding='utf-8'))
            self.assertEqual(total, tree['total'])
            for name, suffix in (('json', '.json'), ('speedscope', '.speedscope.json')):
                out = self.folder / f'x{suffix}'
                self.assertEqual(self.done('flame', trace, *options, '-o', out), '')
                again = self.done('flame', out, '--format', 'collapsed')
                self.assertEqual(collapsed_sums(again), (total, frames), name)
            again = self.done('flame', collapsed, '--format', 'collapsed')
            self.assertEqual(collapsed_sums(again), (total, frames))
            speedscope = json.loads((self.folder / 'x.speedscope.json').read_text(encoding='utf-8'))
            profile = speedscope['profiles'][0]
            self.assertEqual(sum(profile['weights']), total)
            self.assertEqual(len(profile['weights']), len(profile['samples']))
            self.assertLess(max(i for s in profile['samples'] for i in s), len(speedscope['shared']['frames']))

    def test_pictures(self):
        for options in ((), ('--dark', '--direction', 'bottom-up'), ('--width', '400')):
            out = self.folder / 'x.svg'
            self.done('flame', DATA / 'compiled.json', '-o', out, *options)
            root = xml.etree.ElementTree.fromstring(out.read_bytes())
            self.assertTrue(root.tag.endswith('svg'))
            self.assertGreater(len(root.findall('.//{*}rect')), 20)
            self.assertEqual(root.get('width'), '400' if '400' in options else '1600')

    def test_a_tree_is_sound(self):
        def check(node):
            self.assertEqual(node['total'], node['self'] + sum(check(c) for c in node['children']))
            return node['total']
        for direction in ('top-down', 'bottom-up'):
            tree = self.tree(DATA / 'compiled.json', '--direction', direction)
            check(tree)
            self.assertEqual(tree['direction'], direction)

    def test_focus(self):
        up = self.tree(DATA / 'quick.json', '--direction', 'bottom-up', '--focus', 'aten::addmm')
        down = self.tree(DATA / 'quick.json', '--focus', 'aten::addmm')
        self.assertEqual(up['total'], down['total'])
        self.assertEqual([c['name'] for c in down['children']], ['aten::addmm'])
        # Without the backward ops that stand under it, it is what the op table says.
        own = self.tree(DATA / 'quick.json', '--focus', 'aten::addmm', '--backward', 'own')
        row = next(r for r in self.json('ops', DATA / 'quick.json')['rows'] if r['name'] == 'aten::addmm')
        self.assertEqual(own['total'], row['cuda_total_ns'])
        self.assertGreater(down['total'], own['total'])

    @needs_shared_data
    def test_profiles_of_others(self):
        for name, total in (('collapsed_crlf.txt', 14), ('collapsed_perf_vertx.txt', 285),
                            ('collapsed_with_invalids.txt', 14), ('proton_tritonbench.hatchet', None),
                            ('speedscope_simple_0.0.1.speedscope.json', 14),
                            ('speedscope_two_sampled_0.6.0.speedscope.json', 14_000_000_000)):
            with self.subTest(name):
                tree = self.tree(FLAME / name)
                if total is None:
                    total = self.hatchet_sum(json.loads((FLAME / name).read_text())[0])
                self.assertEqual(tree['total'], total)
        other = self.tree(FLAME / 'speedscope_two_sampled_0.6.0.speedscope.json', '--profile', 'one')
        self.assertIn('"one"', other['title'])
        self.assertIn('Firefox Profiler', self.fails(1, 'flame', FLAME / 'samply_tiktoken_profile.json.gz'))
        self.assertIn('profile with one weight',
                      self.fails(1, 'flame', FLAME / 'collapsed_crlf.txt', '--weight', 'cpu'))
        self.assertIn('there is no profile "three"',
                      self.fails(1, 'flame', FLAME / 'speedscope_two_sampled_0.6.0.speedscope.json', '--profile',
                                 'three'))

    def hatchet_sum(self, node):
        return node['metrics'].get('time (ns)', 0) + sum(self.hatchet_sum(c) for c in node['children'])

    def test_reasons(self):
        self.assertIn('Kernels', self.done('flame', '--help').replace('kernels', 'Kernels'))
        text = self.done('flame', DATA / 'quick.json', '--weight', 'memory')
        self.assertTrue('profile_memory=True' in text or 'Bytes allocated' in text)
        self.assertIn('no frame "nothing"', self.fails(1, 'flame', DATA / 'quick.json', '--focus', 'nothing'))
        self.assertIn('--format', self.fails(1, 'flame', DATA / 'quick.json', '-o', self.folder / 'x.png'))
        self.fails(2, 'flame', DATA / 'quick.json', '--weight', 'colour')
        self.fails(2, 'flame', DATA / 'quick.json', '--by-module', '--python')
        self.assertEqual(cli('flame', DATA / 'quick.json', '--range', '0:1').returncode, 0)

    def test_ops_by_stack_and_module_sum_to_the_plain_ones(self):
        trace = H200 / 'gpt.json.gz' if H200.is_dir() else DATA / 'quick.json'
        fields = ('count', 'self_cpu_ns', 'cpu_total_ns', 'self_cuda_ns', 'cuda_total_ns')
        def sums(rows):
            out = collections.defaultdict(lambda: [0] * len(fields))
            for row in rows:
                for i, field in enumerate(fields):
                    out[row['name']][i] += row[field]
            return dict(out)
        for kind in ('ops', 'kernels', 'annotations', 'runtime', 'python'):
            plain = sums(self.json('ops', trace, '--rows', kind)['rows'])
            for group in ('stack', 'module'):
                rows = self.json('ops', trace, '--rows', kind, '--group', group)['rows']
                self.assertEqual(sums(rows), plain, (kind, group))
                keys = [(r['name'], json.dumps(r['stack']), r['module']) for r in rows]
                self.assertEqual(len(keys), len(set(keys)), (kind, group))

    @needs_shared_data
    def test_ops_name_their_source(self):
        rows = self.json('ops', H200 / 'gpt.json.gz', '--group', 'stack')['rows']
        linear = next(r for r in rows if r['name'] == 'aten::addmm')
        self.assertRegex(linear['source'], r'^make_traces\.py\(\d+\): forward$')
        self.assertIn(linear['source'], linear['stack'])
        self.assertRegex(linear['stack'][-1], r'<module>$')
        by_module = self.json('ops', H200 / 'gpt.json.gz', '--group', 'module')['rows']
        self.assertTrue(any(r['module'] == 'GPT_0/Block_3/Linear_12' for r in by_module))

    @needs_shared_data
    def test_modules(self):
        rows = self.json('modules', H200 / 'gpt.json.gz')['rows']
        everything = rows[0]
        self.assertEqual(everything['cuda_total_ns'], gpu_sum(load(H200 / 'gpt.json.gz')))
        self.assertEqual(everything['cuda_total_ns'], sum(r['cuda_self_ns'] for r in rows))
        self.assertEqual(everything['cpu_total_ns'], sum(r['cpu_self_ns'] for r in rows))
        self.assertEqual(everything['cuda_mem_bytes'], sum(r['self_cuda_mem_bytes'] for r in rows))
        blocks = [r for r in rows if re.fullmatch(r'GPT_0/Block_\d', r['path'])]
        self.assertEqual((len(blocks), {r['calls'] for r in blocks}), (6, {3}))
        merged = self.json('modules', H200 / 'gpt.json.gz', '--merge')['rows']
        block = next(r for r in merged if r['module'] == 'Block \u00d76')
        self.assertEqual(block['cuda_total_ns'], sum(r['cuda_total_ns'] for r in blocks))
        self.assertEqual(block['calls'], 18)

    @needs_shared_data
    def test_memory_of_snapshots(self):
        for name in ('gpt', 'cnn', 'compiled', 'truncated', 'oom'):
            with self.subTest(name):
                snapshot = H200 / f'{name}.snapshot.pickle'
                at = {m: self.json('memory', snapshot, '--at', m)['at']['requested_bytes'] for m in ('peak', 'end')}
                for moment, want in at.items():
                    tree = self.tree(snapshot, '--at', moment)
                    self.assertEqual((tree['total'], tree['unit']), (want, 'bytes'))
                self.assertEqual(self.tree(snapshot, '--weight', 'memory', '--direction', 'bottom-up')['total'],
                                 at['peak'])
        self.assertIn('by memory only', self.fails(1, 'flame', snapshot, '--weight', 'cpu'))
        whole = self.tree(H200 / 'gpt.snapshot.pickle', '--range', '0ms:')['total']
        parts = [self.tree(H200 / 'gpt.snapshot.pickle', '--range', r)['total'] for r in ('0ms:100ms', '100ms:')]
        self.assertEqual(sum(parts), whole)

    @needs_shared_data
    def test_info_of_profiles(self):
        name = FLAME / 'speedscope_two_sampled_0.6.0.speedscope.json'
        files = self.json('info', name)['files']
        self.assertEqual([(f['name'], f['unit'], f['total'], f['duration_ns']) for f in files],
                         [('two', 'ns', 14_000_000_000, 14_000_000_000), ('one', 'ns', 14_000_000_000, 14_000_000_000)])
        self.assertIn('speedscope profile', self.done('info', name))
        header, *rows = self.done('info', name, '--csv').splitlines()
        self.assertEqual({row.count(',') for row in rows}, {header.count(',')})

    def test_no_modules(self):
        self.assertIn('with_stack=True', self.done('modules', DATA / 'quick.json'))


if __name__ == '__main__':
    unittest.main()
