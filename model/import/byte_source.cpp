// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/byte_source.h"

#include "model/import/bytes/archive.h"
#include "model/import/bytes/layers.h"
#include "model/import/bytes/quote.h"
#include "model/import/bytes/raw_source.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/stat.h>
#include <vector>

namespace warpline {
namespace {

/// Files are found that unpack to themselves; nobody packs a trace this often.
constexpr std::size_t kMaxLayers = 8;
/// As many members as a message can name.
constexpr std::size_t kMaxListed = 8;

using Use = std::function<Result<Done>(ByteSource&)>;

bool isGzip(std::string_view head) {
    return head.starts_with("\x1F\x8B") && (head.size() < 3 || head[2] == 8);
}

bool isZstd(std::string_view head) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
    // A frame, or one of the sixteen kinds of skippable frame before it.
    return head.starts_with("\x28\xB5\x2F\xFD") || (head.size() >= 4 && byte(0) >= 0x50 && byte(0) <= 0x5F &&
                                                    byte(1) == 0x2A && byte(2) == 0x4D && byte(3) == 0x18);
}

/// "tar.gz" for a tar in a gzip, as everyone calls it; else from the inside out.
std::string compressionName(const std::vector<std::string>& layers) {
    std::string name;
    for (const std::string& layer : layers) {
        if (name.empty())
            name = layer;
        else if (layer == "tar" && (name == "gzip" || name == "zstd"))
            name = name == "gzip" ? "tar.gz" : "tar.zst";
        else
            name = layer + " in " + name;
    }
    return name;
}

/// Peels one file, with what the way down has found so far.
class Peeler {
  public:
    Peeler(std::string file, std::string member, const Use& use)
        : m_file(std::move(file)), m_member(std::move(member)), m_use(use) {}

    Result<Done> run(std::unique_ptr<ByteSource> source) {
        Result<Done> done = deliver(std::move(source), m_file, "", {});
        if (!done.ok() || m_delivered > 0)
            return done;
        if (!m_member.empty())
            return Error::failed(notFound());
        return Error::wrongKind(fmt::format(
            "{} is an archive without a file to open: its members are folders, empty or macOS's own. "
            "Pack the trace again, or open it unpacked.",
            inQuotes(m_file)));
    }

  private:
    /// `within` is the member's name inside the outermost archive.
    Result<Done> deliver(std::unique_ptr<ByteSource> source, const std::string& name,
                         const std::string& within, std::vector<std::string> layers) {
        Result<std::unique_ptr<PeekSource>> opened = PeekSource::open(std::move(source));
        if (!opened.ok())
            return opened.error();
        std::unique_ptr<PeekSource> peek = std::move(opened).value();
        const std::string_view head = peek->head();
        const bool gzip = isGzip(head);
        const ArchiveKind archive = gzip ? ArchiveKind::None : archiveKind(head);
        if (!gzip && !isZstd(head) && archive == ArchiveKind::None)
            return hand(std::move(peek), name, within, layers);
        if (layers.size() >= kMaxLayers)
            return Error::wrongKind(
                fmt::format("{} is packed more than {} times over; it is no trace, or unpack "
                            "it first.",
                            inQuotes(m_file), kMaxLayers));
        if (archive == ArchiveKind::None) {
            layers.emplace_back(gzip ? "gzip" : "zstd");
            return deliver(gzip ? openGzip(std::move(peek)) : openZstd(std::move(peek)), name, within,
                           std::move(layers));
        }
        layers.emplace_back(archive == ArchiveKind::Zip ? "zip" : "tar");
        return members(std::move(peek), archive, name, within, layers);
    }

    Result<Done> members(std::unique_ptr<PeekSource> peek, ArchiveKind kind, const std::string& name,
                         const std::string& within, const std::vector<std::string>& layers) {
        const auto full = [&](std::string_view member) {
            return within.empty() ? std::string(member) : fmt::format("{}!{}", within, member);
        };
        const auto wanted = [&](std::string_view member) {
            const std::string path = full(member);
            if (m_member.empty() || m_member == path || m_member.starts_with(path + "!") || inside(path))
                return true;
            m_seenCount += 1;
            if (m_seen.size() < kMaxListed)
                m_seen.push_back(path);
            return false;
        };
        std::unique_ptr<ByteSource> source = std::move(peek);
        // At the bottom nothing was unpacked yet: start again there, where the archive can be read out of
        // order.
        if (auto* raw = dynamic_cast<RawSource*>(&static_cast<PeekSource&>(*source).source());
            raw != nullptr && raw->seekable() && raw->seek(0))
            source = static_cast<PeekSource&>(*source).release();
        return forEachMember(std::move(source), kind, inQuotes(name), wanted,
                             [&](std::unique_ptr<ByteSource> member, const std::string& memberName) {
                                 return deliver(std::move(member), fmt::format("{}!{}", name, memberName),
                                                full(memberName), layers);
                             });
    }
    /// Whether `path` lies in the member that was asked for, which is an archive itself then.
    [[nodiscard]] bool inside(const std::string& path) const { return path.starts_with(m_member + "!"); }

    Result<Done> hand(std::unique_ptr<PeekSource> peek, const std::string& name, const std::string& within,
                      const std::vector<std::string>& layers) {
        if (!m_member.empty() && m_member != within && !inside(within)) {
            m_notArchive = true;
            return Done{};
        }
        // What is empty in an archive is no document, unless it is empty because the archive is broken.
        if (!within.empty() && peek->head().empty() && !peek->damage())
            return Done{};
        const EncodingGuess guess = guessEncoding(peek->head());
        peek->drop(guess.markBytes);
        std::unique_ptr<ByteSource> source = std::move(peek);
        if (guess.encoding != TextEncoding::Utf8)
            source = openUtf16(std::move(source), guess.encoding == TextEncoding::Utf16Big);
        source->name = name;
        source->compression = compressionName(layers);
        ++m_delivered;
        return m_use(*source);
    }

    [[nodiscard]] std::string notFound() const {
        if (m_notArchive && m_seen.empty())
            return fmt::format("Cannot open {} in {}: that is not an archive. Open it without \"!\" and what "
                               "follows.",
                               inQuotes(m_member), inQuotes(m_file));
        std::string list;
        for (const std::string& name : m_seen)
            list += (list.empty() ? "" : ", ") + inQuotes(name, 120);
        if (m_seenCount > m_seen.size())
            list += fmt::format(" and {} more", m_seenCount - m_seen.size());
        return fmt::format("Cannot open {} in {}: the archive has no such member. It has {}.",
                           inQuotes(m_member), inQuotes(m_file), list.empty() ? "none" : list);
    }

    std::string m_file;
    std::string m_member; ///< the one that was asked for; empty = all
    const Use& m_use;
    std::size_t m_delivered = 0;
    bool m_notArchive = false;
    std::vector<std::string> m_seen;
    std::size_t m_seenCount = 0;
};

bool exists(const std::string& path) {
    struct stat info {};
    return path == "-" || ::lstat(path.c_str(), &info) == 0;
}

/// FILE!MEMBER in its two parts; a file whose own name has a "!" is that file.
std::pair<std::string, std::string> splitMember(const std::string& path) {
    if (exists(path))
        return {path, ""};
    for (std::size_t at = path.find('!'); at != std::string::npos; at = path.find('!', at + 1)) {
        std::string file = path.substr(0, at);
        if (!file.empty() && at + 1 < path.size() && exists(file))
            return {std::move(file), path.substr(at + 1)};
    }
    return {path, ""};
}

} // namespace

Result<Done> forEachByteSource(const std::string& path, const Use& use) {
    auto [file, member] = splitMember(path);
    Result<std::unique_ptr<RawSource>> raw = openFileSource(file);
    if (!raw.ok())
        return raw.error();
    return Peeler(file == "-" ? "standard input" : file, member, use).run(std::move(raw).value());
}

Result<Done> forEachByteSource(std::string_view bytes, const std::string& name, const Use& use) {
    return Peeler(name, "", use).run(openMemorySource(bytes));
}

} // namespace warpline
