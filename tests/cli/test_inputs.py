# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""The same trace by every way in: pipe, gzip, Zstandard, zip, under any name."""
import gzip
import io
import json
import shutil
import subprocess
import unittest
import zipfile

from support import DATA, CommandLineTest

TRACE = DATA / 'streams.json'


class Inputs(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        cls.plain = TRACE.read_bytes()

    def put(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def check(self, path, compression, **keywords):
        file, = self.json('info', path, **keywords)['files']
        self.assertEqual(file['compression'], compression)
        want, = self.json('info', TRACE)['files']
        for field in ('events', 'slices', 'links', 'start_ns', 'duration_ns', 'processes', 'devices', 'diagnostics'):
            self.assertEqual(file[field], want[field], field)
        self.assertEqual(self.json('ops', path, **keywords), self.json('ops', TRACE))

    def test_gzip(self):
        self.check(self.put('trace.json.gz', gzip.compress(self.plain)), 'gzip')

    def test_gzip_named_json_and_json_named_gzip(self):
        self.check(self.put('trace.json', gzip.compress(self.plain, 1)), 'gzip')
        self.check(self.put('trace.json.gz', self.plain), '')
        self.check(self.put('trace', self.plain), '')

    def test_several_gzip_members(self):
        middle = len(self.plain) // 2
        data = gzip.compress(self.plain[:middle]) + gzip.compress(self.plain[middle:])
        self.check(self.put('members.gz', data), 'gzip')

    @unittest.skipUnless(shutil.which('zstd'), 'needs the program zstd')
    def test_zstandard(self):
        data = subprocess.run(['zstd', '-q', '-c'], input=self.plain, capture_output=True, check=True).stdout
        self.check(self.put('trace.json.zst', data), 'zstd')
        self.check(self.put('trace.json', data), 'zstd')

    def test_a_session_is_no_trace(self):
        session = self.put('work.wps', json.dumps({'format': 'warpline session', 'version': 1, 'sources': [
            {'path': str(TRACE), 'bytes': 0}]}).encode())
        for command in ('info', 'ops', 'flame'):
            error = self.fails(1, command, session)
            self.assertIn('work.wps', error)
            self.assertIn('session', error)

    def test_standard_input(self):
        self.check('-', '', stdin=self.plain)
        self.check('-', 'gzip', stdin=gzip.compress(self.plain))

    def zipped(self, members):
        out = io.BytesIO()
        with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return out.getvalue()

    def test_zip_of_one(self):
        self.check(self.put('trace.zip', self.zipped({'a/trace.json': self.plain})), 'zip')

    def test_zip_of_several(self):
        other = (DATA / 'quick.json').read_bytes()
        path = self.put('both.zip', self.zipped({'streams.json': self.plain, 'quick.json': other,
                                                 '__MACOSX/._quick.json': b'\x00\x05\x16\x07'}))
        self.assertEqual(len(self.json('info', path)['files']), 2)
        message = self.fails(1, 'ops', path)
        self.assertIn('both.zip!streams.json', message)
        self.assertEqual(self.json('ops', f'{path}!streams.json'), self.json('ops', TRACE))

    def test_a_cut_gzip_opens_up_to_the_cut(self):
        data = gzip.compress(self.plain)
        path = self.put('cut.json.gz', data[:len(data) // 2])
        file, = self.json('info', path)['files']
        self.assertTrue(any(d['severity'] in ('warning', 'data_loss', 'data loss') for d in file['diagnostics']))
        self.assertGreater(file['slices'], 0)

    def test_byte_order_marks(self):
        text = self.plain.decode('utf-8')
        for encoding in ('utf-8-sig', 'utf-16'):
            self.check(self.put(f'{encoding}.json', text.encode(encoding)), '')

    def test_what_is_no_trace_is_named(self):
        for name, data, word in (
                ('empty.json', b'', 'empty'),
                ('pointer.json', b'version https://git-lfs.github.com/spec/v1\noid sha256:' + b'0' * 64 + b'\nsize 5\n',
                 'LFS'),
                ('page.html', b'<!DOCTYPE html><html><body>404</body></html>', 'HTML'),
                ('other.json', b'{"a": 1, "b": [true]}', 'JSON')):
            with self.subTest(name):
                self.assertIn(word, self.fails(1, 'ops', self.put(name, data)))


if __name__ == '__main__':
    unittest.main()
