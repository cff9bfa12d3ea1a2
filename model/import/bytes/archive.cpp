// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/archive.h"

#include "model/import/bytes/quote.h"
#include "model/import/bytes/raw_source.h"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <fmt/format.h>

namespace warpline {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

/// A member that no one wants to see: macOS keeps a shadow of each file beside it.
bool isMetadata(std::string_view name) {
    if (name.starts_with("__MACOSX/") || name.find("/__MACOSX/") != std::string_view::npos)
        return true;
    const std::size_t slash = name.rfind('/');
    const std::string_view file = slash == std::string_view::npos ? name : name.substr(slash + 1);
    return file.starts_with("._") || file == ".DS_Store";
}

/// libarchive over a ByteSource, with the formats that people put traces in and no others.
class Reader {
  public:
    Reader(std::unique_ptr<ByteSource> source, ArchiveKind kind)
        : m_source(std::move(source)), m_raw(dynamic_cast<RawSource*>(m_source.get())),
          m_block(new char[kBlockBytes]), m_archive(archive_read_new()) {
        if (m_archive == nullptr)
            return;
        if (kind == ArchiveKind::Zip)
            archive_read_support_format_zip(m_archive);
        else
            archive_read_support_format_tar(m_archive);
        archive_read_set_read_callback(m_archive, onRead);
        // A zip's list of members is at its end: with it members are known by size, and what was deleted from
        // the archive stays deleted.
        if (m_raw != nullptr && m_raw->seekable())
            archive_read_set_seek_callback(m_archive, onSeek);
        archive_read_set_callback_data(m_archive, this);
    }
    ~Reader() { archive_read_free(m_archive); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    int open() { return m_archive != nullptr ? archive_read_open1(m_archive) : ARCHIVE_FATAL; }
    /// ARCHIVE_OK (or WARN) and an entry, ARCHIVE_EOF, or an error that message() tells.
    int next() {
        int code = ARCHIVE_RETRY;
        for (int tries = 0; code == ARCHIVE_RETRY && tries < 4; ++tries)
            code = archive_read_next_header(m_archive, &m_entry);
        return code;
    }
    [[nodiscard]] archive_entry* entry() const { return m_entry; }
    la_ssize_t data(char* to, std::size_t size) { return archive_read_data(m_archive, to, size); }
    [[nodiscard]] std::string message() const {
        const char* text = m_archive != nullptr ? archive_error_string(m_archive) : nullptr;
        return text != nullptr ? text : "unknown error";
    }
    /// An error of the system in what lies beneath, as opposed to a damaged archive.
    [[nodiscard]] const std::optional<Error>& readError() const { return m_readError; }
    [[nodiscard]] ByteSource& source() const { return *m_source; }

  private:
    static la_ssize_t onRead(archive* a, void* self, const void** block) {
        auto& reader = *static_cast<Reader*>(self);
        Result<std::size_t> got = reader.m_source->read(reader.m_block.get(), kBlockBytes);
        if (!got.ok()) {
            reader.m_readError = got.error();
            archive_set_error(a, EIO, "%s", got.error().message.c_str());
            return ARCHIVE_FATAL;
        }
        reader.m_at += got.value();
        *block = reader.m_block.get();
        return static_cast<la_ssize_t>(got.value());
    }
    static la_int64_t onSeek(archive*, void* self, la_int64_t offset, int whence) {
        auto& reader = *static_cast<Reader*>(self);
        const auto size = static_cast<la_int64_t>(reader.m_source->fileBytes);
        la_int64_t base = 0;
        if (whence == SEEK_CUR)
            base = static_cast<la_int64_t>(reader.m_at);
        else if (whence == SEEK_END)
            base = size;
        la_int64_t to = 0;
        if (__builtin_add_overflow(base, offset, &to) || to < 0 || to > size ||
            !reader.m_raw->seek(static_cast<std::uint64_t>(to)))
            return ARCHIVE_FATAL;
        reader.m_at = static_cast<std::uint64_t>(to);
        return to;
    }

    std::unique_ptr<ByteSource> m_source;
    RawSource* m_raw;
    std::unique_ptr<char[]> m_block;
    std::uint64_t m_at = 0;
    archive* m_archive;
    archive_entry* m_entry = nullptr;
    std::optional<Error> m_readError;
};

std::string entryName(archive_entry* entry, std::size_t number) {
    if (const char* utf8 = archive_entry_pathname_utf8(entry))
        return utf8;
    if (const char* raw = archive_entry_pathname(entry))
        return raw;
    return fmt::format("member {}", number);
}

/// Goes from one member that is wanted to the next.
class Walk {
  public:
    enum class At { Member, End, Failed };

    Walk(Reader& reader, std::string label, const std::function<bool(std::string_view)>& wanted)
        : m_reader(reader), m_label(std::move(label)), m_wanted(wanted) {}

    /// Goes on, unless lookAhead() has done so already.
    At next() {
        if (!m_ahead)
            advance();
        m_ahead = false;
        return m_at;
    }
    /// At the end of a member's bytes: whether the archive goes on well. A message where it breaks off, so
    /// that the member that was read last can tell.
    std::optional<std::string> lookAhead() {
        if (!m_ahead) {
            advance();
            m_ahead = true;
        }
        if (m_at != At::Failed || m_fatal)
            return std::nullopt;
        m_told = true;
        return fmt::format("After this member the archive breaks off ({})", m_why);
    }
    void tell() { m_told = true; }
    [[nodiscard]] bool told() const { return m_told; }
    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] Error error() const {
        if (m_fatal)
            return *m_fatal;
        return Error::failed(fmt::format("Reading {} failed after {} of its members: {}. Get the file again.",
                                         m_label, m_number - 1, m_why));
    }

  private:
    void advance() {
        for (;;) {
            ++m_number;
            const int code = m_reader.next();
            if (code == ARCHIVE_EOF) {
                m_at = At::End;
                return;
            }
            if (code < ARCHIVE_WARN)
                return fail();
            if (take())
                return;
        }
    }
    void fail() {
        m_at = At::Failed;
        m_fatal = m_reader.readError();
        const std::optional<ByteSource::Damage> below = m_reader.source().damage();
        m_why = below ? below->message : m_reader.message();
    }
    bool take() {
        archive_entry* const entry = m_reader.entry();
        m_name = entryName(entry, m_number);
        const auto type = archive_entry_filetype(entry);
        const bool encrypted = archive_entry_is_encrypted(entry) != 0;
        if ((type != AE_IFREG && type != 0) || m_name.ends_with('/') ||
            archive_entry_hardlink(entry) != nullptr)
            return false;
        if (!encrypted && archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) == 0)
            return false;
        if (isMetadata(m_name) || !m_wanted(m_name))
            return false;
        m_at = At::Member;
        if (encrypted) {
            m_at = At::Failed;
            m_fatal =
                Error::failed(fmt::format("Cannot read {} in {}: it is encrypted with a password. Unpack it "
                                          "(7z x) and open the file that comes out.",
                                          inQuotes(m_name), m_label));
        }
        return true;
    }

    Reader& m_reader;
    std::string m_label;
    const std::function<bool(std::string_view)>& m_wanted;
    At m_at = At::End;
    bool m_ahead = false;
    bool m_told = false;
    std::size_t m_number = 0;
    std::string m_name;
    std::string m_why;
    std::optional<Error> m_fatal; ///< not to be mistaken for damage
};

/// The bytes of the member that the reader stands at.
class MemberSource final : public ByteSource {
  public:
    MemberSource(Reader& reader, Walk& walk) : m_reader(reader), m_walk(walk) {
        fileBytes = reader.source().fileBytes;
    }

    Result<std::size_t> read(char* to, std::size_t size) override {
        if (m_ended || size == 0)
            return std::size_t{0};
        const la_ssize_t got = m_reader.data(to, size);
        if (got > 0) {
            m_produced += static_cast<std::uint64_t>(got);
            return static_cast<std::size_t>(got);
        }
        m_ended = true;
        if (got == 0) {
            m_damage = m_walk.lookAhead();
            return std::size_t{0};
        }
        if (m_reader.readError())
            return *m_reader.readError();
        m_walk.tell();
        const std::optional<Damage> below = m_reader.source().damage();
        m_damage = below ? below->message
                         : fmt::format("The archive is damaged in this member ({})", m_reader.message());
        return std::size_t{0};
    }
    [[nodiscard]] std::optional<Damage> damage() const override {
        return m_damage ? std::optional(Damage{*m_damage, m_produced}) : std::nullopt;
    }
    [[nodiscard]] std::uint64_t bytesDone() const override { return m_reader.source().bytesDone(); }

  private:
    Reader& m_reader;
    Walk& m_walk;
    std::uint64_t m_produced = 0;
    bool m_ended = false;
    std::optional<std::string> m_damage;
};

} // namespace

ArchiveKind archiveKind(std::string_view head) {
    if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06") || head.starts_with("PK\x07\x08"))
        return ArchiveKind::Zip;
    constexpr std::size_t kHeader = 512, kSum = 148, kSumDigits = 8;
    if (head.size() < kHeader || head[0] == '\0')
        return ArchiveKind::None;
    // The sum of the header's bytes with spaces for the sum itself, in octal.
    std::uint64_t stored = 0;
    bool digits = false;
    for (std::size_t i = kSum; i < kSum + kSumDigits; ++i) {
        const char c = head[i];
        if (c >= '0' && c <= '7') {
            stored = stored * 8 + static_cast<std::uint64_t>(c - '0');
            digits = true;
        } else if (c != ' ' && c != '\0') {
            return ArchiveKind::None;
        } else if (digits) {
            break;
        }
    }
    std::uint64_t sum = kSumDigits * ' ';
    for (std::size_t i = 0; i < kHeader; ++i)
        if (i < kSum || i >= kSum + kSumDigits)
            sum += static_cast<unsigned char>(head[i]);
    return digits && sum == stored ? ArchiveKind::Tar : ArchiveKind::None;
}

Result<Done> forEachMember(std::unique_ptr<ByteSource> archive, ArchiveKind kind, const std::string& label,
                           const std::function<bool(std::string_view name)>& wanted, const MemberUse& use) {
    Reader reader(std::move(archive), kind);
    if (reader.open() < ARCHIVE_WARN) {
        if (reader.readError())
            return *reader.readError();
        return Error::failed(
            fmt::format("Cannot read the archive {}: {}. Get the file again.", label, reader.message()));
    }
    Walk walk(reader, label, wanted);
    for (;;) {
        switch (walk.next()) {
        case Walk::At::End:
            return Done{};
        case Walk::At::Failed:
            if (walk.told())
                return Done{};
            return walk.error();
        case Walk::At::Member:
            // The name by value: reading the member to its end moves the walk on.
            if (Result<Done> done =
                    use(std::make_unique<MemberSource>(reader, walk), std::string(walk.name()));
                !done.ok())
                return done;
        }
    }
}

} // namespace warpline
