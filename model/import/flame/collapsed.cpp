// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/flame/profile_builder.h"
#include "model/import/flame/profile_reader.h"

#include <fmt/format.h>

namespace warpline::flame {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r";
    const std::size_t begin = text.find_first_not_of(kSpace);
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

} // namespace

Result<std::vector<ProfilePtr>> readCollapsed(std::string_view text, const ByteSource& source,
                                              const ImportOptions& options) {
    ProfileBuilder builder(std::make_shared<FrameTable>(), source, "collapsed stacks");
    boost::unordered_flat_map<std::string_view, FrameId> known;
    std::size_t lineNumber = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (++lineNumber % 65536 == 0 && options.stop.stop_requested())
            return Error::cancelled();
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::size_t offset = at;
        const std::string_view line = trimmed(text.substr(at, end - at));
        at = end + 1;
        if (line.empty() || line.front() == '#' || line.starts_with("//"))
            continue;
        const std::size_t space = line.find_last_of(" \t");
        std::int64_t weight = 0;
        bool rounded = false;
        if (space == std::string_view::npos || !parseScaled(line.substr(space + 1), 0, weight, rounded) ||
            weight < 0) {
            builder.note("invalid_line", Diagnostic::Severity::DataLoss, offset);
            continue;
        }
        if (rounded)
            builder.note("fraction_rounded", Diagnostic::Severity::Warning, offset);
        StackId stack;
        const std::string_view names = trimmed(line.substr(0, space));
        for (std::size_t from = 0; from <= names.size();) {
            const std::size_t to = std::min(names.find(';', from), names.size());
            const std::string_view name = names.substr(from, to - from);
            from = to + 1;
            if (name.empty())
                continue;
            FrameId& frame = known[name];
            if (!frame)
                frame = frameOfName(builder.frames(), name);
            stack = builder.stacks().push(stack, frame);
        }
        if (!builder.add(stack, weight))
            return Error::failed(fmt::format("{}: the numbers in line {} and before add up to more than can "
                                             "be counted (2^63).",
                                             source.name, lineNumber));
        ++builder.profile().samples;
    }
    if (builder.profile().samples == 0)
        return Error::wrongKind(
            fmt::format("{}: this text has no line with a stack and a number (a;b;c 12).", source.name));
    auto profile = builder.finish(options);
    if (!profile.ok())
        return profile.error();
    return std::vector<ProfilePtr>{std::move(profile).value()};
}

} // namespace warpline::flame
