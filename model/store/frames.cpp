// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/frames.h"

#include "model/base/format.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace warpline {

namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";

std::uint64_t mix(std::uint64_t h) {
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93ULL;
    h ^= h >> 32;
    return h;
}

template <std::size_t N>
bool isOneOf(std::string_view text, const std::array<std::string_view, N>& of) {
    return std::find(of.begin(), of.end(), text) != of.end();
}

/// torch's own files, installed packages and the standard library. Kineto cuts the paths of sys.path off, so
/// that the standard library's files stand bare: those that are seen in stacks are known by name.
bool isLibraryFile(std::string_view file) {
    static constexpr std::array<std::string_view, 28> kStandard = {
        "threading.py", "contextlib.py",  "functools.py", "runpy.py",      "queue.py",       "selectors.py",
        "socket.py",    "ssl.py",         "pickle.py",    "copy.py",       "random.py",      "abc.py",
        "typing.py",    "enum.py",        "os.py",        "posixpath.py",  "genericpath.py", "inspect.py",
        "weakref.py",   "collections.py", "tempfile.py",  "shutil.py",     "subprocess.py",  "codecs.py",
        "types.py",     "traceback.py",   "warnings.py",  "dataclasses.py"};
    static constexpr std::array<std::string_view, 14> kPackages = {
        "torch/",     "torchvision/", "triton/", "numpy/",   "multiprocessing/", "concurrent/", "asyncio/",
        "importlib/", "json/",        "email/",  "logging/", "collections/",     "ctypes/",     "unittest/"};
    if (file.empty() || file.front() == '<')
        return true;
    if (file.find("site-packages/") != std::string_view::npos ||
        file.find("dist-packages/") != std::string_view::npos ||
        file.find("/lib/python") != std::string_view::npos)
        return true;
    return isOneOf(file, kStandard) || std::any_of(kPackages.begin(), kPackages.end(),
                                                   [&](std::string_view p) { return file.starts_with(p); });
}

bool isPlumbing(std::string_view file, std::string_view function) {
    static constexpr std::array<std::string_view, 7> kFunctions = {
        "_call_impl",       "_wrapped_call_impl",       "_bootstrap", "_bootstrap_inner", "_slow_forward",
        "decorate_context", "_call_with_frames_removed"};
    static constexpr std::array<std::string_view, 6> kFiles = {"torch/nn/modules/module.py",
                                                               "torch/utils/_contextlib.py",
                                                               "torch/_ops.py",
                                                               "contextlib.py",
                                                               "functools.py",
                                                               "runpy.py"};
    if (function.starts_with("<built-in ") || function.starts_with("<method ") ||
        file.starts_with("<frozen "))
        return true;
    if (isOneOf(function, kFunctions))
        return true;
    // Paths that were not cut end in the same way.
    return std::any_of(kFiles.begin(), kFiles.end(), [&](std::string_view known) {
        return file == known || (file.size() > known.size() && file.ends_with(known) &&
                                 file[file.size() - known.size() - 1] == '/');
    });
}

/// "train.py(46): forward" in its parts; false where the text is of another make.
bool takeApart(std::string_view text, std::string_view& file, std::uint32_t& line,
               std::string_view& function) {
    const std::size_t close = text.find("): ");
    if (close == std::string_view::npos)
        return false;
    const std::size_t open = text.rfind('(', close);
    if (open == std::string_view::npos || open + 1 == close)
        return false;
    const char* const end = text.data() + close;
    const auto [at, error] = std::from_chars(text.data() + open + 1, end, line);
    if (error != std::errc() || at != end)
        return false;
    file = text.substr(0, open);
    function = text.substr(close + 3);
    return true;
}

/// "Block" of "Block_3"; empty where the name does not end in a number.
std::string_view moduleClass(std::string_view name) {
    std::size_t at = name.size();
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        --at;
    return at < name.size() && at > 1 && name[at - 1] == '_' ? name.substr(0, at - 1) : std::string_view();
}

} // namespace

std::string formatWeight(std::int64_t weight, WeightUnit unit) {
    switch (unit) {
    case WeightUnit::Nanoseconds:
        return formatDuration(weight);
    case WeightUnit::Bytes:
        return formatBytes(weight);
    case WeightUnit::Count:
        break;
    }
    return formatCount(weight);
}

const char* frameKindName(FrameKind kind) {
    switch (kind) {
    case FrameKind::Function:
        return "function";
    case FrameKind::Python:
        return "python";
    case FrameKind::Module:
        return "module";
    case FrameKind::Op:
        return "op";
    case FrameKind::Backward:
        return "backward";
    case FrameKind::Annotation:
        return "annotation";
    case FrameKind::Runtime:
        return "runtime";
    case FrameKind::Graph:
        return "graph";
    case FrameKind::Kernel:
        return "kernel";
    case FrameKind::Copy:
        return "copy";
    case FrameKind::Set:
        return "set";
    case FrameKind::Thread:
        return "thread";
    case FrameKind::Host:
        return "host";
    case FrameKind::Missing:
        return "missing";
    }
    return "function";
}

FrameTable::FrameTable() {
    intern(FrameKind::Missing, "(no stack)");
    intern(FrameKind::Missing, "(no launch recorded)");
    intern(FrameKind::Missing, "(outside modules)");
    intern(FrameKind::Missing, "(no Python line)");
    intern(FrameKind::Missing, "(hidden frames)");
}

std::size_t FrameTable::KeyHash::operator()(const Key& k) const noexcept {
    const std::uint64_t a = (std::uint64_t{k.name.value} << 32) | k.file.value;
    const std::uint64_t b = (std::uint64_t{k.line} << 8) | static_cast<std::uint8_t>(k.kind);
    return mix(a * 0x9E3779B97F4A7C15ULL + b);
}

FrameId FrameTable::add(const Frame& frame) {
    const auto [it, fresh] = m_byKey.try_emplace(Key{frame.kind, frame.name, frame.file, frame.line});
    if (fresh) {
        m_frames.push_back(frame);
        it->second = FrameId::fromIndex(m_frames.size() - 1);
    }
    return it->second;
}

FrameId FrameTable::intern(FrameKind kind, std::string_view name) {
    Frame frame;
    frame.kind = kind;
    if (kind == FrameKind::Python && name.starts_with(kModulePrefix)) {
        frame.kind = FrameKind::Module;
        name.remove_prefix(kModulePrefix.size());
    }
    if (frame.kind == FrameKind::Module) {
        if (const std::string_view base = moduleClass(name); !base.empty()) {
            Frame family;
            family.kind = FrameKind::Module;
            family.merged = true;
            family.name = strings.intern(base);
            // Line 1 keeps it apart from a module that is called like its class.
            family.line = 1;
            frame.family = add(family);
        }
    } else if (frame.kind == FrameKind::Python) {
        std::string_view file;
        std::string_view function;
        if (takeApart(name, file, frame.line, function)) {
            frame.file = strings.intern(file);
            frame.function = strings.intern(function);
            frame.script = !isLibraryFile(file) && !function.starts_with('<');
            if (function == "<module>" || function == "<lambda>")
                frame.script = !isLibraryFile(file);
        }
        frame.plumbing = isPlumbing(file, function.empty() ? name : function);
    } else if (frame.kind == FrameKind::Annotation) {
        frame.plumbing = name.starts_with("ProfilerStep");
    } else if (frame.kind == FrameKind::Op) {
        frame.plumbing = name.starts_with("autograd::engine::evaluate_function");
    }
    frame.name = strings.intern(name);
    return add(frame);
}

FrameId FrameTable::intern(FrameKind kind, std::string_view name, std::string_view file, std::uint32_t line) {
    Frame frame;
    frame.kind = kind;
    frame.name = strings.intern(name);
    frame.line = line;
    if (!file.empty()) {
        frame.file = strings.intern(file);
        frame.script = kind == FrameKind::Python && !isLibraryFile(file);
        frame.plumbing = isPlumbing(file, name);
    }
    return add(frame);
}

std::size_t FrameTable::bytes() const {
    return strings.bytes() + m_frames.capacity() * sizeof(Frame) +
           m_byKey.bucket_count() * (sizeof(Key) + sizeof(FrameId));
}

std::size_t StackTable::NodeHash::operator()(const Node& n) const noexcept {
    return mix(((std::uint64_t{n.parent.value} << 32) | n.frame.value) * 0x9E3779B97F4A7C15ULL + n.own.value);
}

StackId StackTable::push(StackId parent, FrameId frame, StackId own) {
    const auto [it, fresh] = m_byNode.try_emplace(Node{frame, parent, own});
    if (fresh) {
        m_nodes.push_back({frame, parent, own});
        it->second = StackId::fromIndex(m_nodes.size() - 1);
    }
    return it->second;
}

std::vector<FrameId> StackTable::path(StackId id) const {
    std::vector<FrameId> frames;
    for (; id; id = parent(id))
        frames.push_back(frame(id));
    std::reverse(frames.begin(), frames.end());
    return frames;
}

std::size_t StackTable::bytes() const {
    return m_nodes.capacity() * sizeof(Node) + m_byNode.bucket_count() * (sizeof(Node) + sizeof(StackId));
}

} // namespace warpline
