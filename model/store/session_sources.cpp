// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/export/output_file.h"
#include "model/import/bytes/quote.h"
#include "model/store/session_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace warpline {

namespace {

namespace fs = std::filesystem;

/// A session is small: what is larger is something else.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

/// The file on disk that a source lies in: FILE of FILE!MEMBER.
std::string fileOf(const std::string& path) {
    std::error_code ignored;
    if (fs::exists(path, ignored))
        return path;
    for (std::size_t at = path.find('!'); at != std::string::npos; at = path.find('!', at + 1))
        if (fs::is_regular_file(path.substr(0, at), ignored))
            return path.substr(0, at);
    return path;
}

} // namespace

Result<std::string> fileChecksum(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error))
        return Error::failed(fmt::format("{}: this is a folder, not a file.", path));
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file)
        return Error::failed(fmt::format("{}: it cannot be read ({}).", path,
                                         std::error_code(errno, std::generic_category()).message()));
    struct Free {
        void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
    };
    const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
    if (!state)
        return Error::failed("Not enough memory.");
    XXH3_64bits_reset(state.get());
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    const auto buffer = std::make_unique<char[]>(kPiece);
    while (const std::size_t n = std::fread(buffer.get(), 1, kPiece, file.get()))
        XXH3_64bits_update(state.get(), buffer.get(), n);
    if (std::ferror(file.get()) != 0)
        return Error::failed(fmt::format("{}: reading it failed.", path));
    return fmt::format("xxh3:{:016x}", XXH3_64bits_digest(state.get()));
}

Result<Done> writeSession(SessionFile session, const std::string& path) {
    for (SessionFile::SourceRef& source : session.sources) {
        if (!source.checksum.empty() || source.path == "-")
            continue;
        const std::string file = fileOf(source.path);
        auto checksum = fileChecksum(file);
        if (!checksum.ok())
            return checksum.error();
        source.checksum = std::move(checksum).value();
        std::error_code ignored;
        source.bytes = fs::file_size(file, ignored);
    }
    OutputFile file;
    if (auto done = file.open(path); !done.ok())
        return done;
    if (auto done = file.write(sessionText(session, path)); !done.ok())
        return done;
    return file.commit();
}

Result<SessionFile> readSession(const std::string& path) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (error)
        return Error::failed(fmt::format("{}: it cannot be read ({}).", path, error.message()));
    if (size > kMostBytes)
        return Error::wrongKind(
            fmt::format("{}: this file is too large for a session ({} MiB).", path, size >> 20));
    const File file(std::fopen(path.c_str(), "rb"));
    std::string text(static_cast<std::size_t>(size), '\0');
    if (!file || std::fread(text.data(), 1, text.size(), file.get()) != text.size())
        return Error::failed(fmt::format("{}: reading it failed.", path));
    return parseSession(text, path);
}

std::vector<SourceTrouble> checkSources(const SessionFile& session) {
    std::vector<SourceTrouble> out;
    for (std::size_t i = 0; i < session.sources.size(); ++i) {
        const SessionFile::SourceRef& source = session.sources[i];
        const auto add = [&](SourceTrouble::Kind kind, std::string message) {
            out.push_back({i, kind, std::move(message)});
        };
        if (source.path == "-") {
            add(SourceTrouble::Kind::Missing, "A source of this session came over the standard input and was "
                                              "not kept: open the file that it was.");
            continue;
        }
        const std::string file = fileOf(source.path);
        std::error_code error;
        if (!fs::exists(file, error)) {
            add(SourceTrouble::Kind::Missing,
                fmt::format("{} is not there any more: say where it is now, or go on without it.",
                            inQuotes(source.path)));
            continue;
        }
        if (source.checksum.empty())
            continue;
        // Sizes are compared first: that costs nothing.
        const std::uintmax_t size = fs::file_size(file, error);
        const bool sameSize = error || source.bytes == 0 || size == source.bytes;
        const auto checksum = sameSize ? fileChecksum(file) : Result<std::string>(std::string());
        if (!checksum.ok())
            add(SourceTrouble::Kind::Unreadable, checksum.error().message);
        else if (checksum.value() != source.checksum)
            add(SourceTrouble::Kind::Changed,
                fmt::format("{} is not the file that the session was saved with: its contents have changed, "
                            "so that marks and selections may not fit.",
                            inQuotes(source.path)));
    }
    return out;
}

} // namespace warpline
