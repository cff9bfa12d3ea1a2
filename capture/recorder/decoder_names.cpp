// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/decoder_names.h"

#include <charconv>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <memory>

namespace warpline::capture {

std::string demangledName(const std::string& mangled) {
    // The demangler recurses: a name nobody's compiler wrote is not given to it.
    constexpr std::size_t kLongest = 1 << 15;
    if (!mangled.starts_with("_Z") || mangled.size() > kLongest)
        return mangled;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && name ? std::string(name.get()) : mangled;
}

std::string_view bareCallName(std::string_view name) {
    for (const std::string_view end : {"_ptsz", "_ptds"})
        if (name.ends_with(end))
            name.remove_suffix(end.size());
    std::size_t at = name.size();
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        --at;
    if (at < name.size() && at > 2 && name[at - 1] == 'v' && name[at - 2] == '_')
        name.remove_suffix(name.size() - at + 2);
    return name;
}

std::string memoryKindName(std::uint32_t kind) {
    static constexpr const char* kNames[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                             "Array",   "Managed",  "Device static", "Managed static"};
    return kind < std::size(kNames) ? kNames[kind] : fmt::format("kind {}", kind);
}

std::string copyName(std::uint32_t copyKind, std::uint32_t source, std::uint32_t destination) {
    static constexpr const char* kKinds[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                             "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    const std::string kind =
        copyKind > 0 && copyKind < std::size(kKinds) ? kKinds[copyKind] : fmt::format("kind {}", copyKind);
    return fmt::format("Memcpy {} ({} -> {})", kind, memoryKindName(source), memoryKindName(destination));
}

const char* overheadName(std::uint32_t kind) {
    constexpr unsigned kShift = 16;
    switch (kind) {
    case 1:
        return "Driver Compiler";
    case 1u << kShift:
        return "Activity Buffer Flush";
    case 2u << kShift:
        return "Instrumentation";
    case 3u << kShift:
        return "Resource";
    case 4u << kShift:
        return "Runtime Triggered Module Loading";
    case 5u << kShift:
        return "Lazy Function Loading";
    case 6u << kShift:
        return "Command Buffer Full";
    case 7u << kShift:
        return "Activity Buffer Request";
    case 8u << kShift:
        return "UVM Activity Init";
    default:
        return "Overhead";
    }
}

const char* syncName(std::uint32_t type) {
    switch (type) {
    case 1:
        return "Event Sync";
    case 2:
        return "Stream Wait Event";
    case 3:
        return "Stream Sync";
    case 4:
        return "Context Sync";
    default:
        return "Sync";
    }
}

std::optional<TorchOp> torchOp(std::string_view range) {
    TorchOp op;
    const std::size_t id = range.find(", op_id = ");
    const std::size_t sequence = range.find(", seq = ");
    if (id == std::string_view::npos && sequence == std::string_view::npos)
        return std::nullopt;
    op.name = range.substr(0, std::min(id, sequence));
    if (op.name.empty())
        return std::nullopt;
    if (sequence != std::string_view::npos) {
        const std::string_view digits = range.substr(sequence + 8);
        std::from_chars(digits.data(), digits.data() + digits.size(), op.sequence);
    }
    static constexpr std::string_view kSizes = ", sizes = ";
    if (const std::size_t at = range.find(kSizes); at != std::string_view::npos) {
        std::string_view rest = range.substr(at + kSizes.size());
        // Up to the bracket that closes the first: only digits, brackets, commas and blanks are sizes.
        int depth = 0;
        std::size_t end = 0;
        for (; end < rest.size(); ++end) {
            const char c = rest[end];
            if (c == '[') {
                ++depth;
            } else if (c == ']') {
                if (--depth == 0)
                    break;
            } else if ((c < '0' || c > '9') && c != ',' && c != ' ') {
                return op;
            }
        }
        if (end < rest.size() && rest.front() == '[')
            op.sizes = rest.substr(0, end + 1);
    }
    return op;
}

} // namespace warpline::capture
