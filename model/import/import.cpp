// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/import.h"

#include "model/import/byte_source.h"
#include "model/import/chrome/chrome_reader.h"
#include "model/import/wpl/wpl_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <optional>

namespace warpline {

namespace {

/// Lets the first bytes be seen before a format reads them.
class HeadSource final : public ByteSource {
  public:
    explicit HeadSource(ByteSource& inner) : m_inner(inner) {
        name = inner.name;
        compression = inner.compression;
        fileBytes = inner.fileBytes;
    }
    /// Up to sixteen bytes, fewer at the end of the document.
    Result<std::string_view> peek() {
        while (m_size < m_head.size()) {
            auto got = m_inner.read(m_head.data() + m_size, m_head.size() - m_size);
            if (!got.ok())
                return got.error();
            if (got.value() == 0)
                break;
            m_size += got.value();
        }
        return std::string_view(m_head.data(), m_size);
    }
    Result<std::size_t> read(char* to, std::size_t size) override {
        if (m_at == m_size)
            return m_inner.read(to, size);
        const std::size_t n = std::min(size, m_size - m_at);
        std::copy_n(m_head.data() + m_at, n, to);
        m_at += n;
        return n;
    }
    [[nodiscard]] std::optional<Damage> damage() const override { return m_inner.damage(); }
    [[nodiscard]] std::uint64_t bytesDone() const override { return m_inner.bytesDone(); }

  private:
    ByteSource& m_inner;
    std::array<char, 16> m_head{};
    std::size_t m_size = 0;
    std::size_t m_at = 0;
};

/// Reads one document with the format that reads it. A new format is a folder beside chrome/ and a line here.
Result<TracePtr> readDocument(ByteSource& source, const ImportOptions& options) {
    HeadSource document(source);
    auto head = document.peek();
    if (!head.ok())
        return head.error();
    auto trace = wpl::isWpl(head.value()) ? wpl::readWpl(document, options)
                                          : chrome::readChromeTrace(document, options);
    if (!trace.ok())
        return trace.error();
    return TracePtr(std::move(trace).value());
}

template <class Open>
Result<std::vector<TracePtr>> collect(const std::string& name, const ImportOptions& options, Open&& open) {
    std::vector<TracePtr> traces;
    std::optional<Error> notOurs;
    try {
        auto result = open([&](ByteSource& source) -> Result<Done> {
            if (options.progress != nullptr)
                options.progress->bytesTotal = source.fileBytes;
            auto trace = readDocument(source, options);
            if (trace.ok()) {
                traces.push_back(std::move(trace).value());
                return Done{};
            }
            // An archive may hold a readme beside its traces.
            if (trace.error().kind != Error::Kind::WrongKind)
                return trace.error();
            if (!notOurs)
                notOurs = trace.error();
            return Done{};
        });
        if (!result.ok())
            return result.error();
    } catch (const std::bad_alloc&) {
        return Error::failed(fmt::format("{}: there is not enough memory to open it.", name));
    } catch (const std::exception& e) {
        return Error::failed(fmt::format("{}: reading it failed: {}.", name, e.what()));
    }
    if (traces.empty()) {
        if (notOurs)
            return *notOurs;
        return Error::wrongKind(fmt::format("{}: the archive holds no file that is not empty.", name));
    }
    if (options.progress != nullptr)
        options.progress->stage = Progress::Stage::Finished;
    return traces;
}

} // namespace

Result<std::vector<TracePtr>> openTraces(const std::string& path, const ImportOptions& options) {
    return collect(path, options, [&](const auto& use) { return forEachByteSource(path, use); });
}

Result<std::vector<TracePtr>> openTracesFromMemory(std::string_view bytes, const std::string& name,
                                                   const ImportOptions& options) {
    return collect(name, options, [&](const auto& use) { return forEachByteSource(bytes, name, use); });
}

} // namespace warpline
