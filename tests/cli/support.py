# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""What the tests of the command line share: how it is called, where its data lies."""
import gzip
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CLI = os.environ.get('WARPLINE_CLI', 'warpline-cli')
DATA = pathlib.Path(__file__).resolve().parent.parent / 'data'
# Public traces too large for the repository; tests over them are skipped where the folder is missing.
SHARED = pathlib.Path(os.environ.get('WARPLINE_SHARED_DATA') or '/nonexistent')
H200 = SHARED / 'h200'
needs_shared_data = unittest.skipUnless(H200.is_dir(), f'no folder {H200} (set WARPLINE_SHARED_DATA)')


def cli(*arguments, stdin=None, timeout=240):
    """Runs a command to its end; stdout and stderr are text."""
    return subprocess.run([CLI, *map(str, arguments)], input=stdin, capture_output=True, timeout=timeout,
                          encoding=None if isinstance(stdin, bytes) else 'utf-8')


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='warpline-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def done(self, *arguments, **keywords):
        """The text that a command which must succeed writes; it has nothing to complain about."""
        result = cli(*arguments, **keywords)
        self.assertEqual((result.returncode, len(result.stderr)), (0, 0), result.stderr)
        out = result.stdout
        return out.decode('utf-8') if isinstance(out, bytes) else out

    def json(self, *arguments, **keywords):
        return json.loads(self.done(*arguments, '--json', **keywords))

    def fails(self, code, *arguments, **keywords):
        """The one line on stderr of a command that must fail with this exit status."""
        result = cli(*arguments, **keywords)
        error = result.stderr.decode('utf-8') if isinstance(result.stderr, bytes) else result.stderr
        self.assertEqual(result.returncode, code, error)
        self.assertEqual(len(result.stdout), 0, result.stdout)
        self.assertTrue(error.startswith('warpline-cli: ') and error.endswith('\n'), error)
        self.assertEqual(error.count('\n'), 1, error)
        return error


def load(path):
    """A trace by Python's own reader."""
    path = pathlib.Path(path)
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data)


def events_of(document):
    return document['traceEvents'] if isinstance(document, dict) else document
