# SPDX-License-Identifier: GPL-3.0-or-later
# SPDX-FileCopyrightText: Warpline contributors
"""What `warpline-cli record --torch` switches on in a PyTorch program: names of ops as NVTX ranges, marks of optimizer
steps, and a snapshot of the allocator when memory runs out. No line of the program changes."""
import importlib
import os

_state = {'nvtx': None, 'range': None, 'step': 0, 'optimizer': None}


def install(torch):
    """Called once PyTorch is imported; waits for CUDA to be initialised by the program itself."""
    if not hasattr(torch, 'cuda') or not torch.cuda.is_available():
        return
    torch.cuda._lazy_call(lambda: _begin(torch))


def _begin(torch):
    _name_ops(torch)
    _mark_steps(torch)
    _watch_memory(torch)


def _name_ops(torch):
    # Autograd's threads take it over from the thread that runs the model.
    _state['nvtx'] = torch.autograd.profiler.emit_nvtx(record_shapes=True)
    _state['nvtx'].__enter__()


def _mark_steps(torch):
    """A step lasts from the end of one optimizer step to the end of the next. Ranges that start and end, not pushed and
    popped: the hook runs within ranges of PyTorch's own."""
    nvtx = torch.cuda.nvtx

    def stepped(optimizer, _args, _kwargs):
        if _state['optimizer'] is None:
            _state['optimizer'] = id(optimizer)
        if _state['optimizer'] != id(optimizer):
            return  # of several optimizers the first one counts
        if _state['range'] is not None:
            nvtx.range_end(_state['range'])
        _state['step'] += 1
        _state['range'] = nvtx.range_start(f"ProfilerStep#{_state['step']}")

    # torch.optim deletes the module's name from itself, the module stays importable.
    module = getattr(torch.optim, 'optimizer', None) or importlib.import_module('torch.optim.optimizer')
    module.register_optimizer_step_post_hook(stepped)
    _state['range'] = nvtx.range_start('ProfilerStep#0')


def _watch_memory(torch):
    base = os.environ.get('WARPLINE_TORCH_OUT') or 'warpline.wpl'
    if base.endswith('.wpl'):
        base = base[:-4]
    path = f'{os.path.abspath(base)}.{os.getpid()}.oom.snapshot.pickle'

    def out_of_memory(_device, _wanted, _total, _free):
        try:
            torch.cuda.memory._dump_snapshot(path)
        except Exception:
            pass  # there is no memory for anything

    torch._C._cuda_attach_out_of_memory_observer(out_of_memory)
