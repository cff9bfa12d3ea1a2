// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/bytes/layers.h"

#include <algorithm>
#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace warpline {
namespace {

class ZstdSource final : public LayerSource {
  public:
    explicit ZstdSource(std::unique_ptr<ByteSource> source)
        : LayerSource(std::move(source)), m_input(inner()), m_stream(ZSTD_createDStream()) {
        // Files written with --ultra --long=31 need the largest window; memory is only touched as it is used.
        if (m_stream == nullptr ||
            ZSTD_isError(ZSTD_DCtx_setParameter(m_stream, ZSTD_d_windowLogMax, kWindowLogMax)))
            fail("There is not enough memory to unpack the Zstandard data");
    }
    ~ZstdSource() override { ZSTD_freeDStream(m_stream); }
    ZstdSource(const ZstdSource&) = delete;
    ZstdSource& operator=(const ZstdSource&) = delete;

    Result<std::size_t> read(char* to, std::size_t size) override {
        ZSTD_outBuffer out{to, size, 0};
        while (out.pos < out.size && !m_ended) {
            Result<bool> more = m_input.fill();
            if (!more.ok()) {
                if (out.pos == 0)
                    return more.error();
                break; // the next call meets the error again
            }
            decode(out, !more.value());
        }
        addProduced(out.pos);
        return out.pos;
    }

  private:
    static constexpr int kWindowLogMax = sizeof(void*) == 4 ? 30 : 31;

    void fail(std::string message) {
        setDamage(std::move(message));
        m_ended = true;
    }
    void decode(ZSTD_outBuffer& out, bool noMoreInput) {
        const std::string_view rest = m_input.view();
        if (m_betweenFrames && m_frames > 0 && !noMoreInput) {
            const std::size_t zeros = std::min(rest.find_first_not_of('\0'), rest.size());
            if (zeros > 0)
                return m_input.use(zeros);
        }
        ZSTD_inBuffer in{rest.data(), rest.size(), 0};
        const std::size_t before = out.pos;
        const std::size_t code =
            noMoreInput && m_betweenFrames ? 0 : ZSTD_decompressStream(m_stream, &out, &in);
        m_input.use(in.pos);
        if (ZSTD_isError(code) != 0) {
            if (m_betweenFrames && m_frames > 0 && ZSTD_getErrorCode(code) == ZSTD_error_prefix_unknown)
                return fail("After the Zstandard data come bytes that are not Zstandard; they were left out");
            return fail(fmt::format("The Zstandard data is damaged at byte {} of the compressed file ({})",
                                    inner().bytesDone() -
                                        std::min<std::uint64_t>(inner().bytesDone(), m_input.view().size()),
                                    ZSTD_getErrorName(code)));
        }
        if (code == 0) {
            if (in.pos > 0)
                ++m_frames;
            m_betweenFrames = true;
            m_ended = noMoreInput;
            return;
        }
        m_betweenFrames = false;
        // Nothing left to read and nothing more to be had from what the decoder keeps.
        if (noMoreInput && out.pos == before)
            fail("The Zstandard data ends in the middle: the file is cut short");
    }

    InputBuffer m_input;
    ZSTD_DStream* m_stream;
    bool m_betweenFrames = true;
    bool m_ended = false;
    std::uint64_t m_frames = 0;
};

} // namespace

std::unique_ptr<ByteSource> openZstd(std::unique_ptr<ByteSource> inner) {
    return std::make_unique<ZstdSource>(std::move(inner));
}

} // namespace warpline
