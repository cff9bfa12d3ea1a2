// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/stack_args.h"

#include "model/base/parallel.h"

#include <algorithm>
#include <string_view>

namespace warpline {

namespace {

struct PythonFrame {
    std::uint32_t row;
    std::int64_t id;
    std::int64_t parent; ///< 0 = none
};

/// What one stretch of the slice table has.
struct Part {
    std::vector<SequencedOp> sequences;
    std::vector<PythonFrame> python;
    std::vector<std::pair<std::uint32_t, StackArgs::Texts>> texts;
};

struct Keys {
    StringId sequence, forwardThread, callStack, modules, pythonId, pythonParent;

    explicit Keys(const StringPool& strings)
        : sequence(strings.find("Sequence number")), forwardThread(strings.find("Fwd thread id")),
          callStack(strings.find("Call stack")), modules(strings.find("Module Hierarchy")),
          pythonId(strings.find("Python id")), pythonParent(strings.find("Python parent id")) {}
};

/// Whether an event of some shape has anything for us.
std::vector<bool> usefulShapes(const Trace& trace, const Keys& keys) {
    std::vector<bool> useful(trace.args.shapeCount());
    for (std::size_t s = 0; s < useful.size(); ++s) {
        const auto& fields = trace.args.shapeAt(static_cast<std::uint32_t>(s)).fields;
        useful[s] = std::any_of(fields.begin(), fields.end(), [&](const ArgShape::Field& f) {
            return f.key && (f.key == keys.sequence || f.key == keys.callStack || f.key == keys.modules ||
                             f.key == keys.pythonId);
        });
    }
    return useful;
}

/// Old writers put numbers into quotes.
std::int64_t integerOf(const Trace& trace, const Arg& arg) {
    if (arg.kind == ArgKind::Int)
        return arg.integer;
    if (arg.kind != ArgKind::Text)
        return -1;
    std::int64_t value = 0;
    const std::string_view text = trace.strings.view(arg.text);
    if (text.empty() || text.size() > 18)
        return -1;
    for (const char c : text) {
        if (c < '0' || c > '9')
            return -1;
        value = value * 10 + (c - '0');
    }
    return value;
}

void readRow(const Trace& trace, const Keys& keys, std::uint32_t row, bool python, Part& part) {
    std::int64_t sequence = -1;
    std::int64_t forward = 0;
    std::int64_t id = 0;
    std::int64_t parent = 0;
    StackArgs::Texts texts;
    ArgStore::Cursor cursor(trace.args, trace.slices.args[row]);
    Arg arg;
    while (cursor.next(arg)) {
        if (python) {
            if (arg.key == keys.pythonId)
                id = integerOf(trace, arg);
            else if (arg.key == keys.pythonParent)
                parent = std::max<std::int64_t>(0, integerOf(trace, arg));
        } else if (arg.key == keys.sequence) {
            sequence = integerOf(trace, arg);
        } else if (arg.key == keys.forwardThread) {
            forward = integerOf(trace, arg);
        } else if (arg.kind == ArgKind::Text && arg.key == keys.callStack) {
            texts.callStack = arg.text;
        } else if (arg.kind == ArgKind::Text && arg.key == keys.modules) {
            texts.modules = arg.text;
        }
    }
    if (python) {
        if (id > 0)
            part.python.push_back({row, id, parent});
        return;
    }
    if (sequence >= 0)
        part.sequences.push_back({row, sequence, std::max<std::int64_t>(0, forward)});
    const auto filled = [&](StringId text) { return !trace.strings.view(text).empty(); };
    if (filled(texts.callStack) || filled(texts.modules))
        part.texts.emplace_back(row, texts);
}

/// Rows of parents by their ids. Ids are counted up from 1 in each process.
void joinPython(const Trace& trace, const std::vector<Part>& parts, Column<std::uint32_t>& parents) {
    std::size_t count = 0;
    std::int64_t most = 0;
    for (const Part& part : parts) {
        count += part.python.size();
        for (const PythonFrame& p : part.python)
            most = std::max(most, p.id);
    }
    const auto hosts = std::count_if(trace.processes.begin(), trace.processes.end(),
                                     [](const Process& p) { return !p.device; });
    // Ids of several processes mean different frames; then containment alone tells.
    if (count == 0 || hosts > 1 || static_cast<std::uint64_t>(most) > count * 8 + 1024)
        return;
    std::vector<std::uint32_t> rowOf(static_cast<std::size_t>(most) + 1, 0);
    for (const Part& part : parts)
        for (const PythonFrame& p : part.python)
            rowOf[static_cast<std::size_t>(p.id)] = p.row + 1;
    parents.reset(trace.slices.size());
    parents.fill(0);
    for (const Part& part : parts)
        for (const PythonFrame& p : part.python)
            if (p.parent <= most)
                parents[p.row] = rowOf[static_cast<std::size_t>(p.parent)];
}

} // namespace

std::int64_t StackArgs::graphOf(const Trace& trace, std::uint32_t row) const {
    const ArgStore::Ref ref = trace.slices.args[row];
    if (!graphKey || ref == 0 || graphShape[trace.args.shapeOf(ref)] == 0)
        return 0;
    const auto arg = trace.args.find(ref, graphKey);
    return arg && arg->kind == ArgKind::Int ? arg->integer : 0;
}

StackArgs readStackArgs(const Trace& trace, unsigned threads) {
    StackArgs out;
    const Keys keys(trace.strings);
    out.graphKey = trace.strings.find("graph id");
    out.graphShape.assign(trace.args.shapeCount(), 0);
    for (std::size_t s = 0; out.graphKey && s < out.graphShape.size(); ++s)
        for (const ArgShape::Field& f : trace.args.shapeAt(static_cast<std::uint32_t>(s)).fields)
            if (f.key == out.graphKey)
                out.graphShape[s] = 1;

    const std::vector<bool> useful = usefulShapes(trace, keys);
    if (std::none_of(useful.begin(), useful.end(), [](bool u) { return u; }))
        return out;
    constexpr std::size_t kRows = 65536;
    std::vector<Part> parts((trace.slices.size() + kRows - 1) / kRows);
    parallelFor(parts.size(), threads, [&](std::size_t p) {
        const std::size_t end = std::min(trace.slices.size(), (p + 1) * kRows);
        for (std::size_t row = p * kRows; row < end; ++row) {
            const SliceKind kind = trace.kind(row);
            if (kind != SliceKind::CpuOp && kind != SliceKind::Python)
                continue;
            const ArgStore::Ref ref = trace.slices.args[row];
            if (ref != 0 && useful[trace.args.shapeOf(ref)])
                readRow(trace, keys, static_cast<std::uint32_t>(row), kind == SliceKind::Python, parts[p]);
        }
    });
    for (const Part& part : parts) {
        out.sequences.insert(out.sequences.end(), part.sequences.begin(), part.sequences.end());
        out.texts.insert(part.texts.begin(), part.texts.end());
    }
    joinPython(trace, parts, out.pythonParent);
    return out;
}

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(kSpace);
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// Calls f with each part of a text between separators outside of parentheses.
template <class F>
void eachPart(std::string_view text, char separator, F&& f) {
    std::size_t from = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size()) {
            if (text[i] == '(')
                ++depth;
            else if (text[i] == ')')
                --depth;
            if (text[i] != separator || depth > 0)
                continue;
        }
        if (const std::string_view part = trimmed(text.substr(from, i - from)); !part.empty())
            f(part);
        from = i + 1;
    }
}

} // namespace

std::vector<FrameId> framesOfCallStack(const Trace& trace, StringId text, FrameTable& frames) {
    std::vector<FrameId> out;
    eachPart(trace.strings.view(text), ';',
             [&](std::string_view line) { out.push_back(frames.intern(FrameKind::Python, line)); });
    std::reverse(out.begin(), out.end());
    return out;
}

std::vector<FrameId> framesOfHierarchy(const Trace& trace, StringId text, FrameTable& frames) {
    std::vector<FrameId> out;
    eachPart(trace.strings.view(text), '.', [&](std::string_view part) {
        // "conv(Conv2d)::forward"; SELF is a method of the module before.
        const std::string_view module = part.substr(0, part.find("::"));
        if (module.empty() || module.starts_with("SELF(") || module == "SELF")
            return;
        out.push_back(frames.intern(FrameKind::Module, module));
    });
    return out;
}

} // namespace warpline
