#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""What is done inside PyTorch programs, with a PyTorch of straw: the helper of --torch, the allocator's history, and the
daemon that PyTorch's own profiler asks."""
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import unittest

from support import CLI, KERNEL, SAMPLE, AgentTest, kinds

HELPER = pathlib.Path(__file__).resolve().parents[2] / 'resources' / 'torch'

STRAW = {
    'torch/__init__.py': '''
        import types
        from torch import cuda
        calls = []
        class _Nvtx:
            def __init__(self, record_shapes): calls.append(('emit_nvtx', record_shapes))
            def __enter__(self): calls.append('entered')
        autograd = types.SimpleNamespace(profiler=types.SimpleNamespace(emit_nvtx=_Nvtx))
        hooks = []
        optim = types.SimpleNamespace(optimizer=types.SimpleNamespace(register_optimizer_step_post_hook=hooks.append))
        observers = []
        _C = types.SimpleNamespace(_cuda_attach_out_of_memory_observer=observers.append)
        ''',
    'torch/cuda/__init__.py': '''
        import types
        from torch.cuda import memory
        ranges, lazy, initialized = [], [], [False]
        nvtx = types.SimpleNamespace(range_start=lambda name: ranges.append(name) or len(ranges),
                                     range_end=lambda number: ranges.append(number))
        def is_available(): return True
        def is_initialized(): return initialized[0]
        def _lazy_call(work): lazy.append(work)
        def init():
            initialized[0] = True
            for work in lazy: work()
        ''',
    'torch/cuda/memory.py': '''
        said = []
        def _record_memory_history(**options): said.append(options)
        def _dump_snapshot(path):
            with open(path, 'w') as file: file.write(repr(said))
        ''',
}


class Torch(AgentTest):
    def setUp(self):
        super().setUp()
        self.straw = self.folder / 'straw'
        for name, text in STRAW.items():
            path = self.straw / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))

    def python(self, text, path, **environment):
        return subprocess.run([sys.executable, '-c', textwrap.dedent(text)], capture_output=True, text=True, timeout=60,
                              env={**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, path)), **environment})

    def test_the_helper_waits_for_cuda(self):
        run = self.python('''
            import torch
            assert torch.calls == [], torch.calls
            torch.cuda.init()
            assert torch.calls == [('emit_nvtx', True), 'entered'], torch.calls
            first, second = object(), object()
            for optimizer in (first, second, first):
                torch.hooks[0](optimizer, (), {})
            print(torch.cuda.ranges)
            torch.observers[0](0, 1, 2, 3)
            ''', [HELPER, self.straw], WARPLINE_TORCH='1', WARPLINE_TORCH_OUT=str(self.out))
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        self.assertEqual(run.stdout, "['ProfilerStep#0', 1, 'ProfilerStep#1', 3, 'ProfilerStep#2']\n")
        self.assertEqual(len(list(self.folder.glob('out.*.oom.snapshot.pickle'))), 1)

    def test_the_helper_runs_the_other_sitecustomize(self):
        (self.straw / 'sitecustomize.py').write_text('print("the other one")\n')
        run = self.python('import torch', [HELPER, self.straw], WARPLINE_TORCH='1')
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, 'the other one\n', ''))

    def test_the_helper_does_nothing_unasked(self):
        run = self.python('import torch; torch.cuda.init(); print(torch.calls)', [HELPER, self.straw])
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, '[]\n', ''))

    def program(self, body=''):
        """A Python program that plays the driver's part as the C++ one does."""
        return textwrap.dedent('''
            import ctypes, os, sys, time
            sys.path.insert(0, {straw!r})
            import torch
            standin = ctypes.CDLL(os.environ['STANDIN_LIBRARY'])
            torch.cuda.init()
            ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH']).InitializeInjection()
            standin.standin_wait(20000)
            end = time.monotonic() + 10
            while not torch.cuda.memory.said and time.monotonic() < end:
                time.sleep(0.01)
            {body}
            ''').format(straw=str(self.straw), body=body)

    def test_the_history_is_saved_at_the_end(self):
        run = self.record(sys.executable, '-c', self.program(), options=['--json', '--memory-history'])
        self.assertEqual(run.returncode, 0, run.stderr)
        said = json.loads(run.stdout)
        self.assertEqual(said['kernels'], kinds(SAMPLE)[KERNEL])
        self.assertEqual(len(said['snapshots']), 1, run.stderr)
        self.assertIn('max_entries', pathlib.Path(said['snapshots'][0]).read_text())

    def test_the_history_is_saved_when_the_recording_ends(self):
        run = self.record(sys.executable, '-c', self.program('time.sleep(4)'),
                          options=['--json', '--memory-history', '--duration', '1500ms'])
        said = json.loads(run.stdout)
        self.assertEqual(said['reason'], 'the time was over')
        self.assertEqual(len(said['snapshots']), 1, run.stderr)

    def test_a_program_without_torch_is_told(self):
        run = self.record(options=['--json', '--memory-history'])
        self.assertEqual(run.returncode, 0)
        self.assertIn('no Python program', run.stderr)

    def test_plays_the_daemon(self):
        """A scripted client in the place of PyTorch's."""
        client = textwrap.dedent('''
            import os, socket, struct, time
            folder = os.environ['KINETO_IPC_SOCKET_DIR']
            assert os.environ['KINETO_USE_DAEMON'] == '1'
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind(folder + '/dynoconfigclient' + str(os.getpid()))
            s.settimeout(2)
            def ask(kind, payload):
                s.sendto(struct.pack('<Q32s', len(payload), kind) + payload, folder + '/dynolog')
                answer = s.recv(65536)
                size, name = struct.unpack_from('<Q32s', answer)
                assert size == len(answer) - 40 and name.rstrip(b'\\0') == kind
                return answer[40:]
            assert struct.unpack('<i', ask(b'ctxt', struct.pack('<iiq', 0, os.getpid(), 0)))[0] == 1
            for _ in range(40):
                text = ask(b'req', struct.pack('<iiqii', 3, 2, 0, os.getpid(), os.getppid())).decode()
                if text:
                    break
                time.sleep(0.05)
            settings = dict(line.split('=', 1) for line in text.split())
            assert settings['ACTIVITIES_DURATION_MSECS'] == '400' and settings['PROFILE_WITH_STACK'] == 'true'
            with open(settings['ACTIVITIES_LOG_FILE'].replace('.json', '_%d.json' % os.getpid()), 'w') as f:
                f.write('{"traceEvents": []}')
            ''')
        out = self.folder / 'ops.json'
        run = subprocess.run([CLI, 'record', '-o', str(out), '--json', '--kineto', '400ms', '--delay', '200ms', '--',
                              sys.executable, '-c', client], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        said = json.loads(run.stdout)
        self.assertEqual(len(said['paths']), 1)
        self.assertTrue(pathlib.Path(said['paths'][0]).is_file())


if __name__ == '__main__':
    unittest.main()
