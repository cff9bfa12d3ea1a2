// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/layers.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <zlib.h>

namespace warpline {
namespace {

class GzipSource final : public LayerSource {
  public:
    explicit GzipSource(std::unique_ptr<ByteSource> source)
        : LayerSource(std::move(source)), m_input(inner()) {
        // 15 bits of window, +16: gzip with its header and checksum.
        if (inflateInit2(&m_stream, 15 + 16) == Z_OK)
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
        m_state = State::Member;
    }
    void inflateSome() {
        const std::string_view rest = m_input.view();
        // zlib's interface is not const; it does not write there.
        m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
        m_stream.avail_in = static_cast<uInt>(rest.size());
        const int code = inflate(&m_stream, Z_NO_FLUSH);
        m_input.use(rest.size() - m_stream.avail_in);
        if (code == Z_STREAM_END)
            m_state = State::Between;
        else if (code == Z_MEM_ERROR)
            fail("There is not enough memory to unpack the gzip data");
        else if (code != Z_OK && code != Z_BUF_ERROR)
            fail(fmt::format("The gzip data is damaged at byte {} of the compressed file ({})",
                             inner().bytesDone() -
                                 std::min<std::uint64_t>(inner().bytesDone(), m_input.view().size()),
                             m_stream.msg != nullptr ? m_stream.msg : "unknown error"));
    }

    InputBuffer m_input;
    z_stream m_stream{};
    State m_state = State::End;
};

} // namespace

std::unique_ptr<ByteSource> openGzip(std::unique_ptr<ByteSource> inner) {
    return std::make_unique<GzipSource>(std::move(inner));
}

} // namespace warpline
