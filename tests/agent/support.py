# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""What the tests of the agent and the recorder share."""
import collections
import json
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import time
import unittest

CLI = os.environ.get('WARPLINE_CLI', 'warpline-cli')
AGENT = os.environ.get('WARPLINE_AGENT', 'libwarpline-agent.so')
STANDIN = pathlib.Path(os.environ.get('STANDIN_FOLDER', '.'))
PROGRAM = os.environ.get('STANDIN_PROGRAM', 'agent_program')
DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
SAMPLE = DATA / 'gpu_sample.cupd'
SHARED = pathlib.Path(os.environ.get('WARPLINE_SHARED_DATA') or '/nonexistent')

MEMCPY, MEMSET, DRIVER, RUNTIME, KERNEL, MARKER, OVERHEAD, SYNC, MEMORY = 1, 2, 4, 5, 10, 12, 17, 38, 49


def records(path):
    """(kind, bytes, {offset: text}) of each record of a .cupd file."""
    data = pathlib.Path(path).read_bytes()
    at = 8
    while at + 8 <= len(data):
        size, texts = struct.unpack_from('<II', data, at)
        at += 8
        record = data[at:at + size]
        at += size
        named = {}
        for _ in range(texts):
            offset, length = struct.unpack_from('<II', data, at)
            at += 8
            named[offset] = data[at:at + length].decode('utf-8', 'replace')
            at += length
        yield struct.unpack_from('<I', record)[0], record, named


def kinds(path):
    return collections.Counter(kind for kind, _, _ in records(path))


class AgentTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='warpline-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / 'out.wpl'

    def environment(self, variant='now', sample=SAMPLE, **settings):
        library = STANDIN / variant / 'libcupti.so'
        env = {k: v for k, v in os.environ.items() if not k.startswith(('STANDIN_R', 'CUDA_INJ', 'WARPLINE_S'))}
        env.update(STANDIN_LIBRARY=str(library), WARPLINE_CUPTI=str(library), STANDIN_RECORDS=str(sample),
                   STANDIN_DRIVER=str(STANDIN / 'libcuda.so'))
        env.update({'STANDIN_' + k.upper(): str(v) for k, v in settings.items()})
        return env

    def command(self, *words, options=(), output=None):
        return [CLI, 'record', '-o', str(output or self.out), '--agent', AGENT, *map(str, options), '--',
                *(words or (PROGRAM, 'run'))]

    def record(self, *words, options=(), output=None, timeout=120, **environment):
        return subprocess.run(self.command(*words, options=options, output=output), capture_output=True, text=True,
                              env=self.environment(**environment), timeout=timeout)

    def start(self, *words, options=(), **environment):
        process = subprocess.Popen(self.command(*words, options=options), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.environment(**environment))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def info(self, path=None):
        run = subprocess.run([CLI, 'info', '--json', str(path or self.out)], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)['files'][0]

    def events(self, path=None):
        """The recording as trace events, by category."""
        out = self.folder / 'converted.json'
        run = subprocess.run([CLI, 'convert', str(path or self.out), str(out)], capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        by = collections.defaultdict(list)
        for event in json.loads(out.read_text())['traceEvents']:
            by[event.get('cat', event['ph'])].append(event)
        return by

    def diagnostics(self, path=None):
        return {d['id']: d for d in self.info(path)['diagnostics']}

    def until(self, what, holds, seconds=20):
        end = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)


def children(pid):
    try:
        return [int(p) for p in pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]
    except OSError:
        return []


def alive(pid):
    try:
        os.kill(pid, 0)
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


KILL = signal.SIGKILL
