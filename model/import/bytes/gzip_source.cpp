// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/layers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <libdeflate.h>
#include <limits>
#include <zlib.h>

namespace warpline {
namespace {

class GzipSource final : public LayerSource {
  public:
    explicit GzipSource(std::unique_ptr<ByteSource> source)
        : LayerSource(std::move(source)), m_input(inner()) {
        // 15 bits of window, +16: gzip with its header. Its checksum takes zlib a quarter of the time:
        // another library has it in a tenth of that, so zlib is told to leave it.
        if (inflateInit2(&m_stream, 15 + 16) == Z_OK && inflateValidate(&m_stream, 0) == Z_OK)
            m_state = State::Member;
        else
            fail("There is not enough memory to unpack the gzip data");
    }
    ~GzipSource() override { inflateEnd(&m_stream); }
    GzipSource(const GzipSource&) = delete;
    GzipSource& operator=(const GzipSource&) = delete;

    Result<std::size_t> read(char* to, std::size_t size) override {
        size = std::min<std::size_t>(size, std::numeric_limits<uInt>::max());
        m_stream.next_out = reinterpret_cast<Bytef*>(to);
        m_stream.avail_out = static_cast<uInt>(size);
        while (m_stream.avail_out > 0 && m_state != State::End) {
            Result<bool> more = m_input.fill();
            if (!more.ok()) {
                const std::size_t got = size - m_stream.avail_out;
                if (got == 0)
                    return more.error();
                break; // the next call meets the error again
            }
            if (!more.value())
                atEnd();
            else if (m_state == State::Between)
                between();
            else
                inflateSome();
        }
        const std::size_t got = size - m_stream.avail_out;
        addProduced(got);
        return got;
    }

  private:
    enum class State { Member, Between, End };

    void fail(std::string message) {
        setDamage(std::move(message));
        m_state = State::End;
    }
    void atEnd() {
        if (m_state == State::Member)
            fail("The gzip data ends in the middle: the file is cut short");
        m_state = State::End;
    }
    /// After a member: zero bytes (tapes and block devices pad with them), another member, or no gzip at all.
    void between() {
        const std::string_view rest = m_input.view();
        if (rest[0] == '\0') {
            std::size_t zeros = 0;
            while (zeros < rest.size() && rest[zeros] == '\0')
                ++zeros;
            m_input.use(zeros);
            return;
        }
        if (rest[0] != '\x1F') {
            fail("After the gzip data come bytes that are not gzip; they were left out");
            return;
        }
        inflateReset(&m_stream);
        inflateValidate(&m_stream, 0);
        m_checksum = 0;
        m_length = 0;
        m_state = State::Member;
    }
    void inflateSome() {
        const std::string_view rest = m_input.view();
        // zlib's interface is not const; it does not write there.
        m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
        m_stream.avail_in = static_cast<uInt>(rest.size());
        const Bytef* const out = m_stream.next_out;
        const int code = inflate(&m_stream, Z_NO_FLUSH);
        const std::size_t used = rest.size() - m_stream.avail_in;
        const auto made = static_cast<std::size_t>(m_stream.next_out - out);
        m_checksum = libdeflate_crc32(m_checksum, out, made);
        m_length += static_cast<std::uint32_t>(made);
        keepTail(rest.substr(0, used));
        m_input.use(used);
        if (code == Z_STREAM_END)
            endMember();
        else if (code == Z_MEM_ERROR)
            fail("There is not enough memory to unpack the gzip data");
        else if (code != Z_OK && code != Z_BUF_ERROR)
            damaged(m_stream.msg != nullptr ? m_stream.msg : "unknown error");
    }
    /// The last bytes that were used: at the end of a member its checksum and its length.
    void keepTail(std::string_view used) {
        const std::size_t fresh = std::min(used.size(), m_tail.size());
        std::copy(m_tail.begin() + static_cast<std::ptrdiff_t>(fresh), m_tail.end(), m_tail.begin());
        std::copy(used.end() - static_cast<std::ptrdiff_t>(fresh), used.end(),
                  m_tail.end() - static_cast<std::ptrdiff_t>(fresh));
    }
    void endMember() {
        const auto word = [this](std::size_t at) {
            std::uint32_t v = 0;
            for (std::size_t i = 4; i-- > 0;)
                v = (v << 8) | static_cast<unsigned char>(m_tail[at + i]);
            return v;
        };
        if (word(0) != m_checksum)
            damaged("incorrect data check");
        else if (word(4) != m_length)
            damaged("incorrect length check");
        else
            m_state = State::Between;
    }
    void damaged(std::string_view why) {
        const std::uint64_t done = inner().bytesDone();
        fail(fmt::format("The gzip data is damaged at byte {} of the compressed file ({})",
                         done - std::min<std::uint64_t>(done, m_input.view().size()), why));
    }

    InputBuffer m_input;
    z_stream m_stream{};
    std::uint32_t m_checksum = 0; ///< CRC-32 of what the member gave so far
    std::uint32_t m_length = 0;   ///< its length, as gzip counts: of 32 bits
    std::array<char, 8> m_tail{};
    State m_state = State::End;
};

} // namespace

std::unique_ptr<ByteSource> openGzip(std::unique_ptr<ByteSource> inner) {
    return std::make_unique<GzipSource>(std::move(inner));
}

} // namespace warpline
