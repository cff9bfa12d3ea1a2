// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/import.h"

#include "model/import/byte_source.h"
#include "model/import/chrome/chrome_reader.h"
#include "model/import/flame/profile_reader.h"
#include "model/import/snapshot/snapshot_reader.h"
#include "model/import/sniff.h"
#include "model/import/wpl/wpl_reader.h"
#include "model/store/wpl/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

namespace warpline {

namespace {

/// How much of a document is looked at to tell what it is.
constexpr std::size_t kHead = std::size_t{256} << 10;

/// A document whose beginning was read already, from the start again.
class Rewound final : public ByteSource {
  public:
    explicit Rewound(ByteSource& inner) : m_inner(inner) {
        name = inner.name;
        compression = inner.compression;
        fileBytes = inner.fileBytes;
    }

    Result<Done> readHead() {
        m_head.resize(kHead);
        std::size_t have = 0;
        // A recording may come by and by: its first bytes tell, and nothing waits for more.
        while (have < kHead && !wpl::isWpl({m_head.data(), have})) {
            const std::size_t wanted = have < wpl::kMagic.size() ? wpl::kMagic.size() : kHead;
            auto r = m_inner.read(m_head.data() + have, wanted - have);
            if (!r.ok())
                return r.error();
            if (r.value() == 0) {
                m_whole = true;
                break;
            }
            have += r.value();
        }
        m_head.resize(have);
        return Done{};
    }
    [[nodiscard]] std::string_view head() const { return m_head; }
    [[nodiscard]] bool whole() const { return m_whole; }

    Result<std::size_t> read(char* to, std::size_t size) override {
        const std::size_t n = std::min(size, m_head.size() - m_at);
        if (n == 0)
            return m_inner.read(to, size);
        std::memcpy(to, m_head.data() + m_at, n);
        m_at += n;
        if (m_at == m_head.size())
            m_head = {}, m_at = 0;
        return n;
    }
    [[nodiscard]] std::optional<Damage> damage() const override { return m_inner.damage(); }
    [[nodiscard]] std::uint64_t bytesDone() const override { return m_inner.bytesDone(); }

  private:
    ByteSource& m_inner;
    std::string m_head;
    std::size_t m_at = 0;
    bool m_whole = false;
};

/// Reads one document with the format that reads it. A new format is a folder beside chrome/ and a line here.
Result<Done> readDocument(ByteSource& document, const ImportOptions& options, Opened& opened) {
    Rewound source(document);
    if (auto r = source.readHead(); !r.ok())
        return r.error();
    const Sniffed what = wpl::isWpl(source.head()) ? Sniffed{} : sniff(source.head(), source.whole());
    if (what.format == Sniffed::Format::Profile) {
        auto profiles = flame::readProfiles(source, options);
        if (!profiles.ok())
            return profiles.error();
        opened.profiles.insert(opened.profiles.end(), profiles.value().begin(), profiles.value().end());
        return Done{};
    }
    if (what.isMemory()) {
        const snapshot::Form form = what.format == Sniffed::Format::MemoryJson     ? snapshot::Form::Json
                                    : what.format == Sniffed::Format::MemorySqlite ? snapshot::Form::Sqlite
                                                                                   : snapshot::Form::Pickle;
        auto history = snapshot::readSnapshot(source, form, options);
        if (!history.ok())
            return history.error();
        opened.memory.push_back(std::move(history).value());
        return Done{};
    }
    auto trace =
        wpl::isWpl(source.head()) ? wpl::readWpl(source, options) : chrome::readChromeTrace(source, options);
    if (!trace.ok())
        return trace.error();
    opened.traces.push_back(std::move(trace).value());
    return Done{};
}

template <class Open>
Result<Opened> collect(const std::string& name, const ImportOptions& options, Open&& open) {
    Opened opened;
    std::optional<Error> notOurs;
    try {
        auto result = open([&](ByteSource& source) -> Result<Done> {
            if (options.progress != nullptr)
                options.progress->bytesTotal = source.fileBytes;
            auto read = readDocument(source, options, opened);
            // An archive may hold a readme beside its traces.
            if (read.ok() || read.error().kind != Error::Kind::WrongKind)
                return read;
            if (!notOurs)
                notOurs = read.error();
            return Done{};
        });
        if (!result.ok())
            return result.error();
    } catch (const std::bad_alloc&) {
        return Error::failed(fmt::format("{}: there is not enough memory to open it.", name));
    } catch (const std::exception& e) {
        return Error::failed(fmt::format("{}: reading it failed: {}.", name, e.what()));
    }
    if (opened.empty()) {
        if (notOurs)
            return *notOurs;
        return Error::wrongKind(fmt::format("{}: the archive holds no file that is not empty.", name));
    }
    if (options.progress != nullptr)
        options.progress->stage = Progress::Stage::Finished;
    return opened;
}

Result<std::vector<TracePtr>> tracesOf(Result<Opened> opened, const std::string& name) {
    if (!opened.ok())
        return opened.error();
    std::vector<TracePtr>& traces = opened.value().traces;
    for (const ProfilePtr& profile : opened.value().profiles)
        if (profile->timeline)
            traces.push_back(profile->timeline);
    if (!traces.empty())
        return std::move(traces);
    if (opened.value().profiles.empty())
        return Error::wrongKind(
            fmt::format("{}: This is a memory snapshot, not a trace: it has allocations and no "
                        "ops or kernels.",
                        name));
    const std::string& format = opened.value().profiles.front()->format;
    return Error::wrongKind(
        fmt::format("{}: This is a {}{} without times, not a trace: it can be seen as a flame graph only.",
                    name, format.ends_with('s') ? "list of " : "", format));
}

} // namespace

Result<Opened> openFile(const std::string& path, const ImportOptions& options) {
    return collect(path, options, [&](const auto& use) { return forEachByteSource(path, use); });
}

Result<Opened> openFromMemory(std::string_view bytes, const std::string& name, const ImportOptions& options) {
    return collect(name, options, [&](const auto& use) { return forEachByteSource(bytes, name, use); });
}

Result<std::vector<TracePtr>> openTraces(const std::string& path, const ImportOptions& options) {
    return tracesOf(openFile(path, options), path);
}

Result<std::vector<TracePtr>> openTracesFromMemory(std::string_view bytes, const std::string& name,
                                                   const ImportOptions& options) {
    return tracesOf(openFromMemory(bytes, name, options), name);
}

} // namespace warpline
