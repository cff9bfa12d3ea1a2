# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""What scripts rely on: fields, exit status, one line for an error, valid CSV, a quiet end in a pipe."""
import csv
import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import unittest

from support import CLI, DATA, CommandLineTest, cli, events_of, load

QUICK = DATA / 'quick.json'
STREAMS = DATA / 'streams.json'
EVERYTHING = DATA / 'everything.json'

INFO_FIELDS = {'path', 'format', 'compression', 'bytes', 'events', 'slices', 'counters', 'links', 'start_ns',
               'duration_ns', 'processes', 'devices', 'rank', 'world_size', 'diagnostics'}
OPS_FIELDS = {'name', 'count', 'self_cpu_ns', 'cpu_total_ns', 'self_cuda_ns', 'cuda_total_ns', 'gpu_busy_ns',
              'cpu_mem_bytes', 'self_cpu_mem_bytes', 'cuda_mem_bytes', 'self_cuda_mem_bytes', 'input_shapes', 'stack', 'source',
              'module'}
KERNEL_FIELDS = {'name', 'device', 'streams', 'count', 'total_ns', 'avg_ns', 'min_ns', 'median_ns', 'max_ns', 'share',
                 'occupancy', 'registers', 'shared_memory_bytes', 'tensor_core'}
GLIBC = re.compile(r'^(linux-vdso|ld-linux[-\w]*|lib(c|m|dl|rt|pthread|mvec|resolv|util))\.so(\.\d+)*$')


class Interface(CommandLineTest):
    def test_info(self):
        document = self.json('info', QUICK, STREAMS)
        self.assertEqual([os.path.basename(f['path']) for f in document['files']], ['quick.json', 'streams.json'])
        for file in document['files']:
            self.assertLessEqual(INFO_FIELDS, file.keys())
            events = events_of(load(file['path']))
            self.assertEqual(file['events'], len(events))
            self.assertEqual(file['bytes'], os.path.getsize(file['path']))
            self.assertEqual(file['format'], 'Kineto trace')
            threads = [t for p in file['processes'] for t in p['threads']]
            self.assertTrue(threads)
            for thread in threads:
                self.assertLessEqual({'tid', 'name', 'slices'}, thread.keys())
            counted = sum(t['slices'] for t in threads)
            counted += sum(t['slices'] for p in file['processes'] for t in p['other_tracks'])
            counted += sum(d['slices'] for d in file['devices'])
            self.assertEqual(counted, file['slices'])
            streams = {e['tid'] for e in events if e.get('cat') == 'kernel'}
            self.assertLessEqual(streams, set(file['devices'][0]['streams']))
            self.assertIn('H200', file['devices'][0]['name'])
        self.assertIsNone(document['files'][0]['rank'])
        one = self.json('info', EVERYTHING)['files'][0]
        self.assertEqual((one['rank'], one['world_size']), (1, 2))
        self.assertTrue(one['diagnostics'])
        for row in one['diagnostics']:
            self.assertLessEqual({'id', 'severity', 'count', 'message', 'first_offset'}, row.keys())

    def test_ops(self):
        document = self.json('ops', QUICK)
        self.assertEqual(document['totals'].keys(), {'self_cpu_ns', 'self_cuda_ns', 'gpu_busy_ns', 'span_ns'})
        for row in document['rows']:
            self.assertEqual(row.keys(), OPS_FIELDS)
            for field, value in row.items():
                if field.endswith(('_ns', '_bytes')) or field == 'count':
                    self.assertIs(type(value), int, field)
        self.assertGreater(len(document['rows']), 10)
        self.assertEqual(len(self.json('ops', QUICK, '--limit', 3)['rows']), 3)
        for row in self.json('ops', QUICK, '--rows', 'annotations')['rows']:
            self.assertEqual(row.keys(), OPS_FIELDS | {'gpu_span_ns'})

    def test_kernels(self):
        rows = self.json('kernels', STREAMS)['rows']
        events = [e for e in events_of(load(STREAMS)) if e.get('cat') in ('kernel', 'gpu_memcpy', 'gpu_memset')]
        self.assertEqual({r['name']: r['count'] for r in rows},
                         {n: sum(e['name'] == n for e in events) for n in {e['name'] for e in events}})
        self.assertAlmostEqual(sum(r['share'] for r in rows), 1)
        for row in rows:
            self.assertEqual(row.keys(), KERNEL_FIELDS)
            durations = sorted(round(e['dur'] * 1000) for e in events if e['name'] == row['name'])
            self.assertEqual((row['min_ns'], row['max_ns'], row['total_ns']),
                             (durations[0], durations[-1], sum(durations)))
            self.assertLessEqual(row['min_ns'], row['median_ns'])
            self.assertEqual(sorted(row['streams']), sorted({e['tid'] for e in events if e['name'] == row['name']}))
        registers = {e['name']: e['args']['registers per thread'] for e in events if e['cat'] == 'kernel'}
        for row in rows:
            self.assertEqual(row['registers'], registers.get(row['name']))

    def test_sorts(self):
        for column, field in (('count', 'count'), ('self_cuda_time_total', 'self_cuda_ns'),
                              ('cpu_total', 'cpu_total_ns'), ('self_cpu_ns', 'self_cpu_ns')):
            values = [r[field] for r in self.json('ops', QUICK, '--sort', column)['rows']]
            self.assertEqual(values, sorted(values, reverse=True), column)
        names = [r['name'] for r in self.json('ops', QUICK, '--sort', 'name')['rows']]
        self.assertEqual(names, sorted(names, key=lambda n: n.encode()))
        values = [r['avg_ns'] for r in self.json('kernels', QUICK, '--sort', 'avg')['rows']]
        self.assertEqual(values, sorted(values, reverse=True))

    def test_csv_holds_the_same_rows(self):
        for command in (('ops', QUICK), ('ops', QUICK, '--rows', 'kernels'), ('kernels', STREAMS)):
            want = self.json(*command)['rows']
            have = list(csv.DictReader(io.StringIO(self.done(*command, '--csv')), strict=True))
            self.assertEqual(len(have), len(want))
            for a, b in zip(have, want):
                self.assertEqual(a.keys(), b.keys())
                self.assertEqual(a['name'], b['name'])
                self.assertEqual(a['count'], str(b['count']))
        rows = list(csv.DictReader(io.StringIO(self.done('info', QUICK, EVERYTHING, '--csv')), strict=True))
        self.assertEqual([r['events'] for r in rows], [str(len(events_of(load(p)))) for p in (QUICK, EVERYTHING)])

    def test_text_tells_the_totals_and_the_units(self):
        text = self.done('ops', QUICK)
        self.assertRegex(text, r'Self CPU time total: [\d.]+ (µs|ms|s)')
        self.assertIn('Self CUDA', text)
        self.assertLessEqual(text.count('\n'), 25 + 8)
        self.assertIn('--limit 0', text)
        self.assertLessEqual(max(map(len, text.splitlines())), 160)
        names = {r['name'] for r in self.json('ops', QUICK, '--rows', 'kernels')['rows']}
        wide = self.done('ops', QUICK, '--rows', 'kernels', '--wide', '--limit', 0)
        for name in names:
            self.assertIn(name, wide)
        self.assertIn('GPU 0', self.done('info', QUICK))
        self.assertIn('Tensor Cores', self.done('kernels', QUICK, '--wide'))

    def test_text_fits_the_terminal(self):
        for columns in (80, 120):
            master, slave = pty.openpty()
            import fcntl
            import struct
            import termios
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 50, columns, 0, 0))
            with subprocess.Popen([CLI, 'ops', QUICK], stdout=slave) as process:
                os.close(slave)
                text = b''
                try:
                    while chunk := os.read(master, 65536):
                        text += chunk
                except OSError:
                    pass
                os.close(master)
                self.assertEqual(process.wait(), 0)
            table = [line for line in text.decode().splitlines() if 'aten::' in line or '----' in line]
            self.assertGreater(len(table), 5)
            self.assertLessEqual(max(map(len, table)), columns)

    def test_wrong_usage_is_2(self):
        for arguments in ((), ('frobnicate',), ('--frobnicate',), ('ops',), ('ops', QUICK, '--rows', 'all'),
                          ('ops', QUICK, '--sort', 'beauty'), ('ops', QUICK, '--group', 'colour'),
                          ('ops', QUICK, '--json', '--csv'), ('ops', QUICK, '--limit', '-1'),
                          ('ops', QUICK, '--limit', 'x'), ('ops', QUICK, '--range', '5'),
                          ('ops', QUICK, '--range', '2ms:1ms'), ('ops', QUICK, '--range', ':'),
                          ('ops', QUICK, '--range', '1parsec:'), ('ops', QUICK, '--step', 'x'),
                          ('ops', QUICK, '--step', '1', '--range', '1ms:'), ('ops', QUICK, STREAMS),
                          ('kernels', QUICK, '--sort', 'self_cpu'), ('convert', QUICK),
                          ('convert', QUICK, self.folder / 'out.txt'), ('info',)):
            with self.subTest(arguments):
                self.assertIn('--help', self.fails(2, *arguments))

    def test_what_cannot_be_done_is_1(self):
        (self.folder / 'empty.json').write_text('')
        for arguments in (('info', self.folder / 'missing.json'), ('ops', self.folder),
                          ('kernels', self.folder / 'empty.json'), ('ops', QUICK, '--step', 99),
                          ('convert', QUICK, self.folder / 'no/such/folder/x.json')):
            with self.subTest(arguments):
                self.fails(1, *arguments)
        result = cli('info', QUICK, self.folder / 'missing.json', '--json')
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(json.loads(result.stdout)['files']), 1)
        self.assertEqual(result.stderr.count('\n'), 1)

    def test_repairs_are_no_failure(self):
        text = QUICK.read_text()
        (self.folder / 'cut.json').write_text(text[:len(text) // 2])
        file = self.json('info', self.folder / 'cut.json')['files'][0]
        self.assertTrue(file['diagnostics'])
        self.assertTrue(self.json('ops', self.folder / 'cut.json')['rows'])

    def test_help_and_version(self):
        for command in ('info', 'ops', 'kernels', 'convert'):
            self.assertIn(command, self.done('--help'))
            text = self.done(command, '--help')
            self.assertIn('Examples:', text)
            self.assertIn('--range' if command != 'info' else '--csv', text)
        self.assertRegex(self.done('--version'), r'^warpline-cli \d+\.\d+\.\d+\n$')

    def test_a_closed_pipe_is_no_complaint(self):
        with subprocess.Popen([CLI, 'ops', QUICK, '--json'], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b'')
            self.assertIn(process.wait(), (0, -signal.SIGPIPE))

    @unittest.skipUnless(os.path.exists('/dev/full'), 'no /dev/full')
    def test_a_full_disk_is_told(self):
        with open('/dev/full', 'w') as full:
            result = subprocess.run([CLI, 'info', QUICK], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((result.returncode, result.stderr.count('\n')), (1, 1), result.stderr)

    def test_names_cannot_command_the_terminal(self):
        trace = self.folder / 'evil.json'
        trace.write_text(json.dumps([{'ph': 'X', 'cat': 'cpu_op', 'name': '\x1b]0;owned\x07\nop\u009b2J\u202e', 'pid': 1,
                                      'tid': 1, 'ts': 1, 'dur': 2, 'args': {'External id': 1}}]))
        for command in ('ops', 'info'):
            text = self.done(command, trace)
            self.assertFalse(re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]', text), text)
        self.assertEqual(self.json('ops', trace)['rows'][0]['name'], '\x1b]0;owned\x07\nop\u009b2J\u202e')

    def test_an_empty_table_says_why(self):
        trace = self.folder / 'host.json'
        trace.write_text('[{"ph":"X","cat":"user_annotation","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]')
        self.assertIn('--rows annotations', self.done('ops', trace))
        self.assertIn('no kernels', self.done('kernels', trace))
        self.assertEqual(self.json('ops', trace)['rows'], [])
        self.assertIn('range', self.done('ops', QUICK, '--range', '900s:901s'))

    @unittest.skipUnless(shutil.which('ldd') and shutil.which('objdump'), 'needs ldd and objdump')
    def test_needs_nothing_but_glibc(self):
        listing = subprocess.run(['ldd', CLI], capture_output=True, text=True, check=True).stdout
        if 'asan' in listing or 'tsan' in listing or 'ubsan' in listing:
            self.skipTest('a build with sanitizers')
        for line in listing.splitlines():
            self.assertRegex(os.path.basename(line.split()[0]), GLIBC)
        symbols = subprocess.run(['objdump', '-T', CLI], capture_output=True, text=True, check=True).stdout
        newest = max(tuple(map(int, v.split('.'))) for v in re.findall(r'GLIBC_([\d.]+)', symbols))
        # 2.35 is Ubuntu 22.04's; the unwinder of GCC 12's libgcc needs no less.
        self.assertLessEqual(newest, (2, 35))


if __name__ == '__main__':
    unittest.main()
