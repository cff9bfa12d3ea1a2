// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/python_scripts.h"

#include "model/base/json_writer.h"

#include <fmt/format.h>
#include <unistd.h>

namespace warpline::capture {

namespace {

/// As a Python literal: JSON's strings are some.
std::string quoted(const std::string& text) {
    std::string out;
    appendJsonString(out, text);
    return out;
}

/// Runs `body` (of a function, indented by 4) without leaving names behind or printing anything; its result
/// or its exception goes to the answer's file.
std::string script(const PythonPaths& paths, const std::string& body) {
    return fmt::format("def _warpline():\n"
                       "    import os, sys, time\n"
                       "    snapshot = {0}\n"
                       "{1}"
                       "def _warpline_run(work, path):\n"
                       "    try:\n"
                       "        text = work()\n"
                       "    except BaseException as e:\n"
                       "        text = '%s: %s' % (type(e).__name__, e)\n"
                       "    with open(path + '.part', 'w') as f:\n"
                       "        f.write(text or 'ok')\n"
                       "    import os\n"
                       "    os.rename(path + '.part', path)\n"
                       "_warpline_run(_warpline, {2})\n"
                       "del _warpline, _warpline_run\n",
                       quoted(paths.snapshot()), body, quoted(paths.answer()));
}

// The names of these functions are PyTorch's own; they have been the same since 2.1.
constexpr const char* kFindTorch = "    torch = sys.modules.get('torch')\n"
                                   "    if torch is None:\n"
                                   "        return 'the program does not use PyTorch.'\n";

} // namespace

std::string PythonPaths::snapshot() const {
    std::string base = output.empty() || output == "-" ? std::string("warpline.wpl") : output;
    static constexpr std::string_view kEnd = ".wpl";
    if (base.ends_with(kEnd))
        base.resize(base.size() - kEnd.size());
    // The program may stand in another folder.
    if (!base.starts_with('/')) {
        char here[4096];
        if (::getcwd(here, sizeof here) != nullptr)
            base = std::string(here) + "/" + base;
    }
    return fmt::format("{}.{}.snapshot.pickle", base, pid);
}

std::string PythonPaths::answer() const {
    return fmt::format("{}/python-{}-{}.txt", folder, pid, number);
}

std::string startHistoryScript(const PythonPaths& paths) {
    return script(paths, std::string(kFindTorch) +
                             "    end = time.monotonic() + 30\n"
                             "    while not torch.cuda.is_initialized():\n"
                             "        if time.monotonic() > end:\n"
                             "            return 'PyTorch did not initialise CUDA.'\n"
                             "        time.sleep(0.005)\n"
                             "    torch.cuda.memory._record_memory_history(max_entries=1000000)\n"
                             "    import atexit\n"
                             "    def save():\n"
                             "        if getattr(torch, '_warpline_history', False):\n"
                             "            torch._warpline_history = False\n"
                             "            try:\n"
                             "                torch.cuda.memory._dump_snapshot(snapshot)\n"
                             "            except Exception:\n"
                             "                pass\n"
                             "    torch._warpline_history = True\n"
                             "    atexit.register(save)\n");
}

std::string dumpHistoryScript(const PythonPaths& paths) {
    return script(paths, std::string(kFindTorch) +
                             "    torch._warpline_history = False\n"
                             "    torch.cuda.memory._dump_snapshot(snapshot)\n"
                             "    torch.cuda.memory._record_memory_history(enabled=None)\n");
}

} // namespace warpline::capture
