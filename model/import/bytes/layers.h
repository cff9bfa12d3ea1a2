// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/byte_source.h"

#include <memory>
#include <string_view>
#include <vector>

namespace warpline {

/// A source that makes its bytes from those of another: one layer of compression or of encoding.
class LayerSource : public ByteSource {
  public:
    explicit LayerSource(std::unique_ptr<ByteSource> inner) : m_inner(std::move(inner)) {
        fileBytes = m_inner->fileBytes;
    }
    [[nodiscard]] std::uint64_t bytesDone() const override { return m_inner->bytesDone(); }
    /// Its own damage, or what lies beneath it: a stream that is cut looks cut to every layer above, and the
    /// lowest one knows why.
    [[nodiscard]] std::optional<Damage> damage() const override;

  protected:
    [[nodiscard]] ByteSource& inner() const { return *m_inner; }
    std::unique_ptr<ByteSource> takeInner() { return std::move(m_inner); }
    void addProduced(std::uint64_t bytes) { m_produced += bytes; }
    [[nodiscard]] std::uint64_t produced() const { return m_produced; }
    void setDamage(std::string message) { m_damage = std::move(message); }

  private:
    std::unique_ptr<ByteSource> m_inner;
    std::uint64_t m_produced = 0;
    std::optional<std::string> m_damage;
};

/// Bytes of a source taken in pieces, for decoders that eat them at their own pace.
class InputBuffer {
  public:
    explicit InputBuffer(ByteSource& source);
    /// What was read and not yet used. Empty at the end only, after fill().
    [[nodiscard]] std::string_view view() const { return {m_bytes.get() + m_begin, m_end - m_begin}; }
    void use(std::size_t bytes) { m_begin += bytes; }
    /// Reads on where nothing is left; false in the Result at the end of the source.
    Result<bool> fill();

  private:
    ByteSource& m_source;
    std::unique_ptr<char[]> m_bytes;
    std::size_t m_begin = 0;
    std::size_t m_end = 0;
};

/// Lets the first bytes be seen before they are read.
class PeekSource final : public LayerSource {
  public:
    static constexpr std::size_t kHead = 4096;

    /// Reads up to kHead bytes ahead.
    static Result<std::unique_ptr<PeekSource>> open(std::unique_ptr<ByteSource> inner);
    explicit PeekSource(std::unique_ptr<ByteSource> inner) : LayerSource(std::move(inner)) {}

    [[nodiscard]] std::string_view head() const { return m_head; }
    /// Takes bytes off the head, as if they had never been there.
    void drop(std::size_t bytes) { m_at += bytes; }
    [[nodiscard]] ByteSource& source() const { return inner(); }
    /// The source beneath, for who starts again there; this one is of no use after.
    std::unique_ptr<ByteSource> release() { return takeInner(); }

    Result<std::size_t> read(char* to, std::size_t size) override;
    [[nodiscard]] std::optional<Damage> damage() const override;

  private:
    std::string m_head;
    std::size_t m_at = 0;
    std::optional<Error> m_error; ///< met while the head was being handed out
};

/// gzip: any number of members, zero bytes after them.
std::unique_ptr<ByteSource> openGzip(std::unique_ptr<ByteSource> inner);
/// Zstandard: any number of frames, also skippable ones, with windows of up to 2 GiB.
std::unique_ptr<ByteSource> openZstd(std::unique_ptr<ByteSource> inner);

enum class TextEncoding { Utf8, Utf16Little, Utf16Big };
/// How a document is encoded and how many bytes its byte order mark has. UTF-16 without a mark is told by
/// the JSON that it begins with.
struct EncodingGuess {
    TextEncoding encoding = TextEncoding::Utf8;
    std::size_t markBytes = 0;
};
EncodingGuess guessEncoding(std::string_view head);
/// UTF-16 as UTF-8; what is no character becomes U+FFFD.
std::unique_ptr<ByteSource> openUtf16(std::unique_ptr<ByteSource> inner, bool bigEndian);

} // namespace warpline
