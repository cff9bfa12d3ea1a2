#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""warpline-cli attach and targets, on a plain program of our own."""
import json
import os
import pathlib
import subprocess
import time
import unittest

from support import AGENT, CLI, KERNEL, PROGRAM, SAMPLE, AgentTest, alive, kinds


class Attaching(AgentTest):
    def loop(self, seconds, **settings):
        env = self.environment(**settings)
        program = subprocess.Popen([PROGRAM, 'loop', str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=env)
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), 'ready\n')
        return program

    def attach(self, pid, *options, output=None):
        return subprocess.run([CLI, 'attach', str(pid), '-o', str(output or self.out), '--agent', AGENT, *options],
                              capture_output=True, text=True, timeout=60)

    def can(self, pid):
        """Skips where this machine lets nobody attach."""
        run = self.attach(pid, '--duration', '300ms', '--json')
        if 'does not let' in run.stderr or 'forbids' in run.stderr or 'ptrace' in run.stderr:
            self.skipTest(run.stderr)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_records_and_lets_go(self):
        program = self.loop(6, repeat=5)
        said = self.can(program.pid)
        self.assertEqual(said['reason'], 'the time was over')
        self.assertGreater(said['kernels'], 0)
        self.assertEqual(len(self.events()['kernel']), said['kernels'])
        self.assertGreater(said['calls'], 0)
        # CUPTI does not tell of GPUs to who comes late: the driver does.
        info = subprocess.run([CLI, 'info', '--json', self.out], capture_output=True, text=True, check=True).stdout
        self.assertIn('Stand-in GPU', [d['name'] for d in json.loads(info)['files'][0]['devices']])
        tasks = [(t / 'comm').read_text().strip() for t in pathlib.Path(f'/proc/{program.pid}/task').iterdir()]
        self.assertNotIn('warpline-agent', tasks)
        out, err = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 0, err)
        self.assertIn('rounds', out)

    def test_again_and_again(self):
        program = self.loop(20, repeat=1_000_000, rate=20_000)
        self.can(program.pid)
        before = memory(program.pid)
        rounds = 10
        for number in range(rounds):
            output = self.folder / f'{number}.wpl'
            run = self.attach(program.pid, '--duration', '100ms', '--json', output=output)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertGreater(json.loads(run.stdout)['records'], 0)
        grown = memory(program.pid) - before
        self.assertLess(grown / rounds, 1 << 20)
        self.assertTrue(alive(program.pid))

    def test_the_program_may_end_first(self):
        program = self.loop(2, repeat=5)
        run = self.attach(program.pid, '--json')
        if run.returncode != 0:
            self.skipTest(run.stderr)
        said = json.loads(run.stdout)
        self.assertEqual(said['reason'], 'the program ended')
        self.assertEqual(said['kernels'], 5 * kinds(SAMPLE)[KERNEL])

    def test_only_one_at_a_time(self):
        program = self.loop(8, repeat=5)
        self.can(program.pid)
        first = subprocess.Popen([CLI, 'attach', str(program.pid), '-o', str(self.out), '--agent', AGENT, '--duration', '2s'],
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(first.communicate)
        time.sleep(1)
        self.assertIn('recorded already', self.attach(program.pid, output=self.folder / 'b.wpl').stderr)
        first.communicate(timeout=30)
        self.assertEqual(first.returncode, 0)

    def test_refusals_are_sentences(self):
        run = self.attach(999_999_999)
        self.assertEqual((run.returncode, run.stderr), (1, 'warpline-cli: There is no process 999999999.\n'))
        self.assertFalse(self.out.exists())
        sleeper = subprocess.Popen(['/bin/sleep', '30'])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        time.sleep(0.1)
        run = self.attach(sleeper.pid)
        self.assertEqual(run.returncode, 1)
        self.assertIn('uses no CUDA', run.stderr)

    def test_targets(self):
        program = self.loop(5)
        run = subprocess.run([CLI, 'targets', '--json'], capture_output=True, text=True, timeout=30)
        self.assertEqual(run.returncode, 0, run.stderr)
        mine = [t for t in json.loads(run.stdout)['targets'] if t['pid'] == program.pid]
        self.assertEqual(len(mine), 1)
        self.assertTrue(mine[0]['cuda'])
        self.assertIn('loop', mine[0]['command'])


def memory(pid):
    with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith('Private_Dirty'))


if __name__ == '__main__':
    unittest.main()
