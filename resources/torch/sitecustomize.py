# SPDX-License-Identifier: GPL-3.0-or-later
# SPDX-FileCopyrightText: Warpline contributors
"""Python runs this at its start, since `warpline-cli record --torch` put this folder first in PYTHONPATH. It sees to it
that warpline_torch is told once PyTorch is imported, and runs the sitecustomize that would have run without it."""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_the_other_one():
    path = [p for p in sys.path if os.path.abspath(p or '.') != _HERE]
    spec = importlib.machinery.PathFinder.find_spec('sitecustomize', path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules['sitecustomize'] = module
    spec.loader.exec_module(module)


class _TorchFinder(importlib.abc.MetaPathFinder):
    """Finds PyTorch as the others do, and has our code run behind its own."""

    def find_spec(self, name, path=None, target=None):
        if name != 'torch':
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            try:
                import warpline_torch
                warpline_torch.install(module)
            except Exception as error:  # the program matters more than its recording
                print(f'warpline: PyTorch is recorded without names of ops ({error})', file=sys.stderr)

        spec.loader.exec_module = exec_module
        return spec


if os.environ.get('WARPLINE_TORCH') == '1':
    sys.meta_path.insert(0, _TorchFinder())
_run_the_other_one()
