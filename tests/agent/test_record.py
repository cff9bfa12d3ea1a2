#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""warpline-cli record over the stand-in for CUPTI: what it hands out must be in the file."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from support import (AGENT, CLI, DRIVER, KERNEL, KILL, MARKER, MEMCPY, MEMORY, MEMSET, OVERHEAD, PROGRAM, RUNTIME, SAMPLE,
                     SHARED, SYNC, AgentTest, alive, children, kinds, records)


class Recording(AgentTest):
    def test_every_record_arrives(self):
        run = self.record(options=['--json', '--what', 'default,all-calls'])
        self.assertEqual(run.returncode, 0, run.stderr)
        said = json.loads(run.stdout)
        there = kinds(SAMPLE)
        self.assertEqual(said['kernels'], there[KERNEL])
        self.assertEqual(said['copies'], there[MEMCPY])
        self.assertEqual(said['sets'], there[MEMSET])
        self.assertEqual(said['calls'], there[RUNTIME] + there[DRIVER])
        self.assertEqual(said['markers'], there[MARKER])
        self.assertEqual(said['dropped'], 0)
        self.assertEqual(said['reason'], 'the program ended')
        events = self.events()
        self.assertEqual(len(events['kernel']), there[KERNEL])
        self.assertEqual(len(events['gpu_memcpy']), there[MEMCPY])
        self.assertEqual(len(events['gpu_memset']), there[MEMSET])
        self.assertEqual(len(events['cuda_runtime']), there[RUNTIME])
        self.assertEqual(len(events['cuda_driver']), there[DRIVER])
        self.assertEqual(len(events['overhead']), there[OVERHEAD])
        self.assertEqual(len(events['cuda_sync']), there[SYNC])
        self.assertEqual(self.info()['memory_records'], there[MEMORY])

    def test_records_keep_their_content(self):
        self.assertEqual(self.record().returncode, 0)
        events = self.events()
        names = {e['name'] for e in events['kernel']}
        self.assertIn('transpose_naive(int, float const*, float*)', names)
        self.assertFalse([n for n in names if n.startswith('_Z')])
        want = sorted((int.from_bytes(r[8:16], 'little'), int.from_bytes(r[24:32], 'little') -
                       int.from_bytes(r[16:24], 'little')) for k, r, _ in records(SAMPLE) if k == MEMCPY)
        got = sorted((e['args']['bytes'], round(e['dur'] * 1000)) for e in events['gpu_memcpy'])
        self.assertEqual(got, want)
        ranges = {e['name']: e for e in events['user_annotation']}
        self.assertEqual(ranges['iteration']['args']['domain'], 'sample.domain')
        self.assertEqual(ranges['iteration']['args']['color'], '#ff3366cc')
        self.assertIn('payload', ranges['iteration']['args'])
        self.assertIn('tick', ranges)
        # Calls that matter, and none of the others.
        calls = {e['name'] for e in events['cuda_runtime']}
        self.assertIn('cudaLaunchKernel', calls)
        self.assertNotIn('cudaGetDevice', calls)
        device = self.info()['devices'][0]
        self.assertEqual(device['name'], 'NVIDIA H200')

    def test_kernels_are_linked_to_their_launches(self):
        self.assertEqual(self.record(options=['--json']).returncode, 0)
        there = kinds(SAMPLE)
        self.assertEqual(self.info()['links_by_kind']['launch'], there[KERNEL] + there[MEMCPY] + there[MEMSET])

    def test_a_hundred_thousand_records_a_second(self):
        run = self.record(options=['--json', '--what', 'default,all-calls'], repeat=300, rate=100_000)
        self.assertEqual(run.returncode, 0, run.stderr)
        said = json.loads(run.stdout)
        self.assertEqual(said['kernels'], 300 * kinds(SAMPLE)[KERNEL])
        self.assertEqual(said['dropped'], 0)
        self.assertEqual(said['records'], int(run.stderr.split('given')[1].split()[0]))

    def test_torch_ops_by_emit_nvtx(self):
        sample = SHARED / 'cupti' / 'torch_nvtx.cupd'
        if not sample.is_file():
            self.skipTest(f'no {sample}')
        self.assertEqual(self.record(sample=sample).returncode, 0)
        events = self.events()
        ops = [e for e in events['cpu_op'] if e['name'] == 'aten::addmm']
        self.assertGreater(len(ops), 0)
        self.assertTrue(all(isinstance(e['args']['Input Dims'], list) for e in ops))
        self.assertFalse([e for e in events['cpu_op'] if 'op_id' in e['name']])
        self.assertGreater(self.info()['links_by_kind']['op'], 0)

    def test_late_buffers(self):
        run = self.record(options=['--json', '--buffers', 64], repeat=20, late=1)
        self.assertEqual(json.loads(run.stdout)['kernels'], 20 * kinds(SAMPLE)[KERNEL], run.stderr)

    def test_losses_are_told(self):
        run = self.record(options=['--json'], dropped=17)
        self.assertEqual(json.loads(run.stdout)['dropped'], 17)
        self.assertEqual(self.diagnostics()['cupti_dropped']['count'], 17)

    def test_a_slow_recorder_loses_records_and_stops_nobody(self):
        process = self.start(options=['--json', '--buffers', 2], repeat=400)
        self.until('no program', lambda: children(process.pid))
        program = children(process.pid)[0]
        self.until('nothing recorded', lambda: self.out.exists() and self.out.stat().st_size > 1000)
        os.kill(process.pid, signal.SIGSTOP)
        try:
            self.until('the program waits for the recorder', lambda: not alive(program) or
                       'warpline-agent' not in threads(program) or idle(program), 60)
        finally:
            os.kill(process.pid, signal.SIGCONT)
        out, err = process.communicate(timeout=60)
        said = json.loads(out)
        self.assertGreater(said['dropped'], 0, err)
        self.assertEqual(self.diagnostics()['agent_dropped']['count'], said['dropped'])
        self.assertEqual(said['exit_code'], 0)

    def test_another_profiler_is_told(self):
        run = self.record(busy=1, may_fail=1, patience=300, options=['--json'])
        self.assertIn('Another profiler', run.stderr)
        self.assertEqual(run.returncode, 0)

    def test_older_versions(self):
        run = self.record(variant='old', options=['--json'])
        said = json.loads(run.stdout)
        self.assertEqual(said['kernels'], kinds(SAMPLE)[KERNEL])
        self.assertEqual(said['calls'], kinds(SAMPLE)[RUNTIME] + kinds(SAMPLE)[DRIVER])  # all: no filter there
        self.assertIn('thread ids', run.stderr)
        run = self.record(variant='too_old', may_fail=1, patience=300)
        self.assertIn('too old', run.stderr)

    def test_output_and_exit_status_are_passed_on(self):
        run = self.record(PROGRAM, 'exit', '7')
        self.assertEqual(run.returncode, 7)
        self.assertEqual(run.stdout, 'to the output\n')
        self.assertIn('330 kernels', run.stderr)

    def test_a_program_that_is_not_there(self):
        run = self.record('/no/such/program')
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, 'warpline-cli: /no/such/program: it cannot be started: No such file or directory.\n')
        self.assertFalse(self.out.exists())

    def test_a_program_without_cuda(self):
        run = self.record('/bin/sh', '-c', 'exit 3')
        self.assertEqual(run.returncode, 3)
        self.assertIn('no process of the program used CUDA', run.stderr)

    def test_processes_of_a_shell(self):
        run = self.record('/bin/sh', '-c', f'RANK=1 WORLD_SIZE=2 {PROGRAM} run & RANK=0 WORLD_SIZE=2 {PROGRAM} run; wait',
                          options=['--json'])
        said = json.loads(run.stdout)
        self.assertEqual(said['kernels'], 2 * kinds(SAMPLE)[KERNEL])
        self.assertEqual(sorted(p['rank'] for p in said['processes']), [0, 1])
        # Each kernel has a launch of its own process.
        there = kinds(SAMPLE)
        self.assertEqual(self.info()['links_by_kind']['launch'], 2 * (there[KERNEL] + there[MEMCPY] + there[MEMSET]))

    def test_a_fork_in_between(self):
        run = self.record(PROGRAM, 'fork', options=['--json'])
        self.assertEqual(json.loads(run.stdout)['kernels'], kinds(SAMPLE)[KERNEL], run.stderr)
        self.assertEqual(run.returncode, 0)

    def test_begins_at_cudaProfilerStart(self):
        run = self.record(PROGRAM, 'profiler', options=['--json', '--profiler-api'], hold=1)
        self.assertEqual(json.loads(run.stdout)['kernels'], kinds(SAMPLE)[KERNEL], run.stderr)

    def test_begins_at_a_range(self):
        for skip, there in ((1, kinds(SAMPLE)[KERNEL]), (2, 0)):
            run = self.record(PROGRAM, 'range', options=['--json', '--nvtx-range', 'step', '--nvtx-skip', skip], hold=1)
            self.assertEqual(json.loads(run.stdout)['kernels'], there, run.stderr)

    def test_streams_to_the_standard_output(self):
        run = subprocess.run(self.command(PROGRAM, 'exit', '0', output='-'), capture_output=True, env=self.environment(),
                             timeout=60)
        self.assertEqual(run.returncode, 0)
        self.assertIn(b'to the output', run.stderr)
        info = subprocess.run([CLI, 'info', '--json', '-'], input=run.stdout, capture_output=True, timeout=60)
        self.assertEqual(info.returncode, 0, info.stderr)
        self.out.write_bytes(run.stdout)
        self.assertEqual(len(self.events()['kernel']), kinds(SAMPLE)[KERNEL])

    def test_a_ring_keeps_to_its_size(self):
        run = self.record(options=['--json', '--ring', '100K'], repeat=200, rate=100_000)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLess(self.out.stat().st_size, 250 << 10)
        self.assertGreater(self.diagnostics()['ring_forgot']['count'], 0)
        # The newest stretch stays, of whatever kinds it is.
        self.assertGreater(sum(len(events) for kind, events in self.events().items() if kind != 'M'), 0)

    def test_a_size_limit_ends_it(self):
        run = self.record(options=['--json', '--size-limit', '200K'], repeat=300, rate=100_000)
        self.assertEqual(json.loads(run.stdout)['reason'], 'the file reached its size limit')

    def test_a_killed_program(self):
        process = self.start(options=['--json'], repeat=10_000, rate=50_000)
        self.until('nothing recorded', lambda: self.out.exists() and self.out.stat().st_size > 100_000)
        os.kill(children(process.pid)[0], KILL)
        out, err = process.communicate(timeout=60)
        said = json.loads(out)
        self.assertEqual(said['exit_code'], 128 + KILL, err)
        self.assertEqual(len(self.events()['kernel']), said['kernels'])
        self.assertNotIn('recording_cut', self.diagnostics())

    def test_a_killed_recorder(self):
        process = self.start(repeat=100, rate=50_000)
        self.until('nothing recorded', lambda: self.out.exists() and self.out.stat().st_size > 100_000)
        program = children(process.pid)[0]
        process.kill()
        process.wait()
        self.assertTrue(alive(program))
        self.assertIn('recording_cut', self.diagnostics())
        self.assertGreater(len(self.events()['kernel']), 0)
        self.until('the program hangs without its recorder', lambda: not alive(program), 60)

    def test_wrong_options_are_told(self):
        for options in (['--what', 'everything'], ['--duration', '5'], ['--ring', 'much']):
            run = self.record(options=options)
            self.assertEqual(run.returncode, 2, run.stderr)
        run = subprocess.run([CLI, 'record', '-o', str(self.out), '--agent', '/nonexistent.so', '--', PROGRAM],
                             capture_output=True, text=True, timeout=30)
        self.assertEqual(run.returncode, 1)
        self.assertIn('was not found', run.stderr)


class Library(unittest.TestCase):
    """The agent goes into every program: what it needs must be there."""

    def test_needs_only_the_c_library(self):
        out = subprocess.run(['readelf', '-d', AGENT], capture_output=True, text=True, check=True).stdout
        needed = [line.split('[')[1].split(']')[0] for line in out.splitlines() if '(NEEDED)' in line]
        self.assertEqual(needed, ['libc.so.6'])

    def test_runs_with_glibc_2_34(self):
        for program in (AGENT, CLI):
            out = subprocess.run(['objdump', '-T', program], capture_output=True, text=True, check=True).stdout
            versions = {tuple(map(int, v.split('.')))
                        for v in (w.strip('()').removeprefix('GLIBC_') for w in out.split() if 'GLIBC_' in w)
                        if v[0].isdigit()}
            self.assertTrue(versions)
            self.assertLessEqual(max(versions), (2, 34), program)

    def test_exports_its_doors_only(self):
        out = subprocess.run(['nm', '-D', '--defined-only', AGENT], capture_output=True, text=True, check=True).stdout
        self.assertEqual({line.split()[-1] for line in out.splitlines()},
                         {'InitializeInjection', 'InitializeInjectionNvtx', 'InitializeInjectionNvtx2',
                          'InitializeInjectionNvtxExtension', 'warpline_agent_start', 'warpline_agent_stage'})


def threads(pid):
    try:
        return [(task / 'comm').read_text().strip() for task in pathlib.Path(f'/proc/{pid}/task').iterdir()]
    except OSError:
        return []


def idle(pid):
    """True once the program has played all and waits for nothing but its end."""
    return len(threads(pid)) <= 2


if __name__ == '__main__':
    if not shutil.which(CLI):
        raise SystemExit(f'no {CLI}')
    unittest.main()
