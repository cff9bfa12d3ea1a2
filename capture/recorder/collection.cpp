// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/collection.h"

#include "model/base/json_writer.h"

#include <fmt/format.h>

namespace warpline::capture {

Collection::Collection() {
    const auto add = [&](const char* name, SliceKind kind) {
        m_dictionary.categories.push_back({text(name), kind});
    };
    // In the order of Category.
    add("kernel", SliceKind::Kernel);
    add("gpu_memcpy", SliceKind::Copy);
    add("gpu_memset", SliceKind::Set);
    add("cuda_runtime", SliceKind::Runtime);
    add("cuda_driver", SliceKind::Driver);
    add("user_annotation", SliceKind::Annotation);
    add("cpu_op", SliceKind::CpuOp);
    add("cuda_sync", SliceKind::Sync);
    add("overhead", SliceKind::Overhead);
}

wpl::Text Collection::text(std::string_view text) {
    if (const auto it = m_texts.find(text); it != m_texts.end())
        return it->second;
    m_dictionary.strings.emplace_back(text);
    const auto number = static_cast<wpl::Text>(m_dictionary.strings.size());
    m_texts.emplace(std::string(text), number);
    return number;
}

std::uint32_t Collection::shape(const std::vector<Field>& fields) {
    std::vector<std::uint64_t> key;
    for (const Field& f : fields)
        key.push_back(std::uint64_t{f.key} << 8 | static_cast<std::uint64_t>(f.kind));
    const auto [it, fresh] = m_shapes.try_emplace(std::move(key), 0);
    if (fresh) {
        m_dictionary.shapes.push_back({fields});
        it->second = static_cast<std::uint32_t>(m_dictionary.shapes.size());
    }
    return it->second;
}

std::uint32_t Collection::rawTrack(std::int64_t pid, std::int64_t tid, std::string_view tidText) {
    const wpl::Text t = tidText.empty() ? 0 : text(tidText);
    const auto [it, fresh] = m_rawTracks.try_emplace({pid, tid, t}, 0);
    if (fresh) {
        it->second = static_cast<std::uint32_t>(m_dictionary.rawTracks.size());
        m_dictionary.rawTracks.push_back({pid, tid, 0, t});
    }
    return it->second;
}

std::uint32_t Collection::track(TrackKind kind, std::int64_t pid, std::int64_t tid, std::string_view tidText,
                                std::string_view group) {
    const std::uint32_t raw = rawTrack(pid, tid, tidText);
    const wpl::Text g = group.empty() ? 0 : text(group);
    const auto [it, fresh] = m_tracks.try_emplace({raw, kind, g}, 0);
    if (fresh) {
        it->second = static_cast<std::uint32_t>(m_dictionary.tracks.size());
        m_dictionary.tracks.push_back({raw, kind, g});
    }
    return it->second;
}

void Collection::metadata(wpl::RecordedMetadata row) {
    wpl::Text& known = m_metadata[{row.name, row.pid, row.tid, row.tidText}];
    if (known == row.args)
        return;
    known = row.args;
    m_dictionary.metadata.push_back(row);
}

void Collection::nameProcess(std::int64_t pid, const char* what, std::string_view value) {
    std::string args;
    JsonWriter json(args);
    json.beginObject();
    json.field(std::string_view(what) == "process_labels" ? "labels" : "name", value);
    json.endObject();
    metadata({text(what), pid, 0, 0, 0, text(args)});
}

void Collection::nameThread(std::int64_t pid, std::int64_t tid, std::string_view tidText,
                            std::string_view name) {
    std::string args;
    JsonWriter json(args);
    json.beginObject();
    json.field("name", name);
    json.endObject();
    metadata({text("thread_name"), pid, tid, 0, tidText.empty() ? 0 : text(tidText), text(args)});
}

void Collection::setSortIndex(std::int64_t pid, std::int64_t index) {
    metadata({text("process_sort_index"), pid, 0, 0, 0, text(fmt::format("{{\"sort_index\":{}}}", index))});
}

void Collection::setProperty(std::string_view key, std::string json) {
    for (auto& [k, v] : m_dictionary.properties) {
        if (k != key)
            continue;
        if (v != json) {
            v = std::move(json);
            ++m_dictionary.revision;
        }
        return;
    }
    m_dictionary.properties.emplace_back(key, std::move(json));
    ++m_dictionary.revision;
}

void Collection::setDiagnostic(Diagnostic diagnostic) {
    for (Diagnostic& d : m_dictionary.diagnostics) {
        if (d.id != diagnostic.id)
            continue;
        if (d.message != diagnostic.message || d.count != diagnostic.count) {
            d = std::move(diagnostic);
            ++m_dictionary.revision;
        }
        return;
    }
    m_dictionary.diagnostics.push_back(std::move(diagnostic));
    ++m_dictionary.revision;
}

} // namespace warpline::capture
