#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Warpline contributors
"""The steps of prove.sh. Each is on its own: one that fails leaves its error in results.json and the next one runs.
usage: prove.py RECORDER_FOLDER WORK_FOLDER [STEP...]"""
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
RECORDER = pathlib.Path(sys.argv[1])
WORK = pathlib.Path(sys.argv[2])
OUT = pathlib.Path(os.environ['OUT'])
CLI = str(RECORDER / 'warpline-cli')
BEGUN = time.monotonic()
SECONDS = float(os.environ.get('PROVE_SECONDS', '570')) - 15
RESULTS = {}
CHEAP = ['--what', 'kernels,copies,sets,calls']


def left():
    return SECONDS - (time.monotonic() - BEGUN)


def save():
    (OUT / 'results.json').write_text(json.dumps(RESULTS, indent=1))


def run(*words, timeout=60, env=None):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=min(timeout, max(5, left())),
                          env={**os.environ, **(env or {})})


def last_json(text):
    """The last line of a text that is a JSON object; of several documents the last one."""
    for line in reversed(text.strip().splitlines()):
        if line.startswith('{') and line.endswith('}'):
            return json.loads(line)
    raise ValueError('no JSON in: ' + text[-500:])


def record(out, *program, options=(), timeout=60):
    """What the recorder says (stdout) and what the program says (it goes to stderr)."""
    done = run(CLI, 'record', '-o', out, '--json', *options, '--', *program, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f'record ended with {done.returncode}: {done.stderr[-1500:]}')
    return json.loads(done.stdout), done.stderr


def attach(pid, out, duration, *options, timeout=40):
    done = run(CLI, 'attach', pid, '-o', out, '--json', '--duration', duration, *options, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f'attach ended with {done.returncode}: {done.stderr[-1500:]}; threads: {threads(pid)}')
    return json.loads(done.stdout)


def threads(pid):
    """What each thread of a program is at: its name, the system call it is in."""
    def read(path):
        try:
            return path.read_text().strip()
        except OSError as error:
            return str(error)
    tasks = pathlib.Path(f'/proc/{pid}/task')
    return [[t.name, read(t / 'comm'), read(t / 'wchan'), read(t / 'syscall')] for t in sorted(tasks.iterdir())] \
        if tasks.exists() else 'ended'


def info(path):
    return json.loads(run(CLI, 'info', '--json', path).stdout)['files'][0]


def python(*words):
    return ['python3', *map(str, words)]


class Running:
    """A program that says "ready" and goes on until it is told to stop."""

    def __init__(self, *words):
        self.process = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        line = self.process.stdout.readline()
        if line.strip() != 'ready':
            raise RuntimeError('the program is not ready: ' + line + self.process.stderr.read()[-1000:])
        time.sleep(0.5)
        return self

    @property
    def pid(self):
        return self.process.pid

    def end(self, timeout=60):
        out, err = self.process.communicate(timeout=timeout)
        if self.process.returncode != 0:
            raise RuntimeError(f'the program ended with {self.process.returncode}: {err[-1500:]}')
        return last_json(out)

    def __exit__(self, kind, error, _):
        code = self.process.poll()
        if code is None:
            self.process.kill()
            self.process.communicate()
        elif error is not None:
            raise RuntimeError(f'the program ended with {code}: {self.process.communicate()[1][-1500:]}') from error


def memory(pid):
    with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(('Private_Dirty', 'Swap:')))


# ------------------------------------------------------------------------------------------ steps

def counted():
    """A CUDA C++ program: what it counts is what is recorded."""
    out = OUT / 'counted.wpl'
    said, err = record(out, WORK / 'counted', 40)
    own = last_json(err)
    details = info(out)
    converted = WORK / 'counted.json'
    run(CLI, 'convert', out, converted)
    events = json.loads(converted.read_text())['traceEvents']
    copied = sum(e['args']['bytes'] for e in events if e.get('cat') == 'gpu_memcpy')
    set_bytes = sum(e['args']['bytes'] for e in events if e.get('cat') == 'gpu_memset')
    kernels = [e for e in events if e.get('cat') == 'kernel']
    ranges = [e for e in events if e.get('cat') == 'user_annotation']
    result = {'own': own, 'recorded': said, 'copied_bytes': copied, 'set_bytes': set_bytes, 'ranges': len(ranges),
              'kernel_names': sorted({e['name'] for e in kernels}), 'links': details['links_by_kind'],
              'diagnostics': details['diagnostics'], 'devices': details['devices'],
              'graph_kernels': sum('graph id' in e['args'] for e in kernels)}
    result['equal'] = (said['kernels'] == own['kernels'] and said['copies'] == own['copies'] and said['sets'] == own['sets']
                       and copied == own['copied_bytes'] and set_bytes == own['set_bytes']
                       and len(ranges) == own['ranges'] and said['dropped'] == 0
                       and details['links_by_kind']['launch'] == said['kernels'] + said['copies'] + said['sets'])
    return result


def graphs():
    """Graph launches as a whole."""
    said, err = record(WORK / 'g.wpl', WORK / 'counted', 20, options=['--what', 'default,graphs'])
    own = last_json(err)
    return {'kernels': said['kernels'], 'expected': own['rounds'] * 10, 'equal': said['kernels'] == own['rounds'] * 10}


def shell():
    """Two processes of a shell in one file."""
    out = WORK / 'two.wpl'
    said, err = record(out, 'sh', '-c', f'RANK=0 {WORK}/counted 20 & RANK=1 {WORK}/counted 30; wait')
    own = [json.loads(line) for line in err.splitlines() if line.startswith('{')]
    return {'kernels': said['kernels'], 'own': [o['kernels'] for o in own], 'processes': said['processes'],
            'launch_links': info(out)['links_by_kind']['launch'],
            'equal': said['kernels'] == sum(o['kernels'] for o in own)}


def torch_counts():
    """A training loop: kernels a step as torch.profiler counts them."""
    alone = last_json(run(*python(HERE / 'train.py', 1, '--count'), timeout=60).stdout)
    out = OUT / 'train.wpl'
    said, err = record(out, *python(HERE / 'train.py', 2))
    own = last_json(err)
    rest = said['kernels'] - alone['kernels_per_step'] * (own['steps'] + 3)
    return {'profiler_kernels_per_step': alone['kernels_per_step'], 'steps': own['steps'], 'kernels': said['kernels'],
            'beside_steps': rest, 'dropped': said['dropped'], 'messages': err[-800:],
            # What is beside the steps sets the weights and the data up: some kernels a parameter.
            'equal': 0 <= rest < 60, 'devices': info(out)['devices']}


def launches():
    """A loop bound by launches: 20 kernels a step, none lost."""
    said, err = record(WORK / 'launches.wpl', *python(HERE / 'launches.py', 4))
    own = last_json(err)
    rest = said['kernels'] - own['kernels'] - 200 * 20
    return {'kernels': said['kernels'], 'own': own['kernels'] + 4000, 'beside_steps': rest, 'dropped': said['dropped'],
            'records': said['records'], 'bytes': said['bytes'], 'equal': 0 <= rest <= 4 and said['dropped'] == 0}


def attach_once():
    """Attach, detach, attach again; the C++ program and the torch loop."""
    result = {}
    with Running(*python(HERE / 'launches.py', 14, '--window', 0.5)) as program:
        time.sleep(2)
        times = []
        for i in range(2):
            begun = time.time()
            said = attach(program.pid, OUT / f'attached{i}.wpl', '2s')
            times.append([begun, time.time()])
            result[f'recorded{i}'] = said
            result[f'links{i}'] = info(OUT / f'attached{i}.wpl')['links_by_kind']
            time.sleep(1.5)
        result['targets'] = json.loads(run(CLI, 'targets', '--json').stdout)
        own = program.end()
    before = [r for t, r in own['rates'] if t < times[0][0]]
    after = [r for t, r in own['rates'] if t > times[1][1] + 0.5]
    during = [r for t, r in own['rates'] if any(a + 0.8 < t < b - 0.2 for a, b in times)]
    result.update(before=statistics.median(before), during=statistics.median(during), after=statistics.median(after))
    result['devices'] = info(OUT / 'attached1.wpl')['devices']
    return result


def within(program_words, seconds, options, pairs):
    """Rates of one process, attached to and not, in turns: the ratios of neighbours."""
    with Running(*program_words) as program:
        spans = []
        for i in range(pairs):
            time.sleep(1.3)
            begun = time.time()
            said = attach(program.pid, WORK / 'within.wpl', '1300ms', *options)
            spans.append((begun, time.time(), said['kernels'], said['dropped']))
        time.sleep(1.3)
        own = program.end(timeout=seconds + 30)
    ratios, free, busy = [], [], []
    for i, (a, b, _, _) in enumerate(spans):
        during = [r for t, r in own['rates'] if a + 0.5 < t < a + 1.5]
        around = [r for t, r in own['rates'] if b + 0.3 < t < (spans[i + 1][0] if i + 1 < len(spans) else b + 1.3)]
        if during and around:
            ratios.append(statistics.median(around) / statistics.median(during))
            free.append(statistics.median(around))
            busy.append(statistics.median(during))
    return {'pairs': len(ratios), 'slower_by': statistics.median(ratios) - 1, 'all': ratios,
            'free': statistics.median(free), 'recorded': statistics.median(busy),
            'dropped': sum(s[3] for s in spans)}


def cost_within():
    """The cost in one process, attached and not in turns, by what is recorded."""
    result = {}
    for name, options in (('kernels', ['--what', 'kernels']), ('kernels, copies, sets', ['--what', 'kernels,copies,sets']),
                          ('kernels, copies, sets, calls', CHEAP), ('default', [])):
        if left() < 60:
            break
        pairs = 10 if name == 'kernels, copies, sets, calls' else 4
        words = python(HERE / 'launches.py', pairs * 3.6 + 4, '--window', 0.2)
        r = within(words, pairs * 3.6 + 4, options, pairs)
        r['us_per_kernel'] = 1e6 / (20 * r['recorded']) - 1e6 / (20 * r['free'])
        result[name] = r
    return result


def cost_train():
    """A step bound by the GPU."""
    words = python(HERE / 'train.py', 5)
    ratios = []
    for _ in range(4):
        if left() < 40:
            break
        alone = last_json(run(*words).stdout)['steps_per_second']
        ours = last_json(record(WORK / 't.wpl', *words)[1])['steps_per_second']
        ratios.append(alone / ours)
    return {'ratios': ratios, 'median': statistics.median(ratios)}


def find_nsys():
    nsys = shutil.which('nsys')
    if nsys:
        return nsys
    for pattern in ('nsight-systems*/bin/nsys', 'nsight-systems/*/bin/nsys', 'nvidia/nsight-systems/*/bin/nsys'):
        for root in ('/opt', '/opt/nvidia', '/usr/local/cuda', '/usr/lib'):
            found = sorted(pathlib.Path(root).glob(pattern))
            if found:
                return str(found[-1])
    return None


def cost_pairs():
    """Alternating processes: nothing, ours, torch.profiler, Nsight Systems."""
    nsys = find_nsys()
    loop = HERE / 'launches.py'
    rates = {'none': [], 'ours': [], 'torch.profiler': [], 'nsys': []}
    errors = []
    for i in range(10):
        if left() < 45:
            break
        for name in rates:
            try:
                if name == 'none':
                    text = run(*python(loop, 3)).stdout
                elif name == 'ours':
                    text = record(WORK / 'p.wpl', *python(loop, 3), options=CHEAP)[1]
                elif name == 'torch.profiler' and i < 4:
                    text = run(*python(loop, 3, 'torch.profiler'), timeout=60).stdout
                elif name == 'nsys' and nsys and i < 4:
                    text = run(nsys, 'profile', '-t', 'cuda', '-s', 'none', '--cpuctxsw=none', '-f', 'true', '-o',
                               WORK / 'n', *python(loop, 3), timeout=60).stdout
                else:
                    continue
                rates[name].append(last_json(text)['steps_per_second'])
            except Exception as error:
                errors.append(f'{name}: {str(error)[:300]}')
    result = {'rates': rates, 'errors': errors, 'nsys': nsys}
    for name in ('ours', 'torch.profiler', 'nsys'):
        pairs = [a / b - 1 for a, b in zip(rates['none'], rates[name])]
        if pairs:
            result[name + ' slower by'] = statistics.median(pairs)
    return result


def rounds():
    """Fifty times attached and detached, on a busy loop."""
    with Running(*python(HERE / 'launches.py', 400)) as program:
        sizes, kernels, took = [], [], []
        try:
            for i in range(50):
                if left() < 100 and i >= 20:
                    break
                begun = time.monotonic()
                kernels.append(attach(program.pid, WORK / 'r.wpl', '200ms')['kernels'])
                took.append(time.monotonic() - begun)
                sizes.append(memory(program.pid))
        finally:
            alive = program.process.poll() is None
            result = {'rounds': len(sizes), 'alive': alive, 'kernels': kernels, 'seconds_a_round': took[-5:],
                      'memory': sizes}
            RESULTS['rounds_so_far'] = result
    result['growth_a_round'] = (sizes[-1] - sizes[2]) / max(1, len(sizes) - 3)
    result['good'] = alive and result['growth_a_round'] < (1 << 20) and min(kernels) > 0
    return result


def kill():
    """kill -9 of the program, and of the recorder, in the middle."""
    result = {}
    for victim in ('program', 'recorder'):
        out = WORK / f'kill-{victim}.wpl'
        recorder = subprocess.Popen([CLI, 'record', '-o', str(out), '--json', '--', *python(HERE / 'launches.py', 12)],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            end = time.monotonic() + 30
            while time.monotonic() < end and not (out.exists() and out.stat().st_size > 1_000_000):
                time.sleep(0.1)
            time.sleep(1)
            child = int(pathlib.Path(f'/proc/{recorder.pid}/task/{recorder.pid}/children').read_text().split()[0])
            at = time.time()
            os.kill(child if victim == 'program' else recorder.pid, signal.SIGKILL)
            time.sleep(1)
            details = info(out)
            result[victim] = {'missing_s': at - (details['start_ns'] + details['duration_ns']) / 1e9,
                              'slices': details['slices'], 'diagnostics': [d['id'] for d in details['diagnostics']]}
            if victim == 'recorder':
                state = pathlib.Path(f'/proc/{child}/status')
                result[victim]['program_runs_on'] = state.exists()
                os.kill(child, signal.SIGKILL)
        finally:
            recorder.kill()
            recorder.communicate()
    return result


def long_run():
    """A torch run with names of ops, steps and the allocator's history: trace and snapshot."""
    seconds = 60 if left() > 130 else max(10, left() - 60)
    out = OUT / 'long.wpl'
    said, err = record(out, *python(HERE / 'train.py', seconds), options=['--torch', '--memory-history'],
                       timeout=seconds + 60)
    details = info(out)
    result = {'said': said, 'steps_marked': len(details['steps']), 'own': last_json(err), 'links': details['links_by_kind'],
              'messages': err[-1500:]}
    ops = run(CLI, 'ops', out, '--limit', 12, '--sort', 'cuda')
    result['ops'] = ops.stdout if ops.returncode == 0 else ops.stderr
    for path in said['snapshots']:
        target = OUT / 'long.snapshot.pickle'
        size = os.path.getsize(path)
        result['snapshot_bytes'] = size
        if size < 20_000_000 and pathlib.Path(path) != target:
            shutil.copy(path, target)
        if pathlib.Path(path).parent == OUT:
            os.unlink(path)
    return result


def attached_history():
    """The allocator's history of a program that was not launched by us."""
    with Running(*python(HERE / 'train.py', 20)) as program:
        said = attach(program.pid, WORK / 'h.wpl', '3s', '--memory-history', timeout=60)
    return {'snapshots': [[p, os.path.getsize(p)] for p in said['snapshots']], 'kernels': said['kernels']}


def samples():
    """Recordings small enough to be kept."""
    record(OUT / 'sample_counted.wpl', WORK / 'counted', 6)
    record(OUT / 'sample_torch.wpl', *python(HERE / 'train.py', 0.2), options=['--torch'])
    for path in OUT.glob('*.wpl'):
        if path.stat().st_size > 8_000_000:
            path.unlink()
    return {p.name: p.stat().st_size for p in OUT.glob('*.wpl')}


STEPS = {f.__name__: f for f in (counted, graphs, shell, launches, torch_counts, attach_once, kill, cost_within, rounds,
                                 long_run, attached_history, samples, cost_train, cost_pairs)}


def main():
    wanted = sys.argv[3:] or list(STEPS)
    for name in wanted:
        if left() < 15:
            RESULTS[name] = {'skipped': 'no time was left'}
            continue
        begun = time.monotonic()
        try:
            RESULTS[name] = STEPS[name]()
        except Exception:
            RESULTS[name] = {'error': traceback.format_exc()[-3000:]}
        if isinstance(RESULTS[name], dict):
            RESULTS[name]['took_s'] = round(time.monotonic() - begun, 1)
        save()
        text = json.dumps(RESULTS[name])
        print(f'== {name}: {text[:700]}', flush=True)


main()
