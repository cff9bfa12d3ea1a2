// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/flame/profile_reader.h"

#include <cctype>
#include <fmt/format.h>

namespace warpline::flame {

Result<std::vector<ProfilePtr>> readProfiles(ByteSource& source, const ImportOptions& options) {
    std::string text;
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    while (true) {
        if (options.stop.stop_requested())
            return Error::cancelled();
        const std::size_t had = text.size();
        text.resize(had + kPiece);
        auto got = source.read(text.data() + had, kPiece);
        if (!got.ok())
            return got.error();
        text.resize(had + got.value());
        if (options.progress != nullptr)
            options.progress->bytesDone = source.bytesDone();
        if (got.value() == 0)
            break;
    }
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos)
        return Error::wrongKind(fmt::format("{}: there is nothing in this file.", source.name));
    // A frame may be called "[unknown]" or "{main}"; no JSON begins like that.
    const bool word =
        first + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[first + 1])) != 0;
    const bool object = text[first] == '{' && !word;
    const bool tree = (text[first] == '[' && !word) || (object && text.find("warpline flame tree") < 4096);
    auto profiles = tree     ? readCallTree(text, source, options)
                    : object ? readSpeedscope(text, source, options)
                             : readCollapsed(text, source, options);
    if (!profiles.ok())
        return profiles;
    if (const auto damage = source.damage())
        return Error::failed(fmt::format("{}: {} A profile is only read whole: copy the file again.",
                                         source.name, damage->message));
    return profiles;
}

} // namespace warpline::flame
