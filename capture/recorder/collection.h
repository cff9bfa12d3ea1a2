// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/wpl/recording.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpline::capture {

/// What events are, in the categories that traces of PyTorch use, so that every view knows them.
enum class Category : std::uint16_t {
    Kernel,
    Copy,
    Set,
    Runtime,
    Driver,
    Annotation,
    CpuOp,
    Sync,
    Overhead,
};

/// Gathers the events of all processes of one recording: numbers what they refer to, and holds those that
/// were not written yet. Used by one thread.
class Collection {
  public:
    Collection();

    [[nodiscard]] wpl::Text text(std::string_view text);
    using Field = wpl::RecordedShape::Field;
    [[nodiscard]] std::uint32_t shape(const std::vector<Field>& fields);
    /// The track of a host thread, a stream, ...; `tidText` where the number alone would be taken for
    /// another.
    [[nodiscard]] std::uint32_t track(TrackKind kind, std::int64_t pid, std::int64_t tid,
                                      std::string_view tidText = {}, std::string_view group = {});
    [[nodiscard]] std::uint32_t rawTrack(std::int64_t pid, std::int64_t tid, std::string_view tidText = {});
    /// A metadata event with one argument, once.
    void nameProcess(std::int64_t pid, const char* what, std::string_view value);
    void nameThread(std::int64_t pid, std::int64_t tid, std::string_view tidText, std::string_view name);
    void setSortIndex(std::int64_t pid, std::int64_t index);
    void setProperty(std::string_view key, std::string json);
    void setDiagnostic(Diagnostic diagnostic);

    void add(const wpl::RecordedEvent& event, std::initializer_list<std::int64_t> values) {
        m_block.events.push_back(event);
        m_block.values.insert(m_block.values.end(), values);
    }
    void add(const wpl::RecordedEvent& event, const std::vector<std::int64_t>& values) {
        m_block.events.push_back(event);
        m_block.values.insert(m_block.values.end(), values.begin(), values.end());
    }
    void add(const wpl::RecordedMemory& row, std::initializer_list<std::int64_t> values) {
        m_block.memory.push_back(row);
        m_block.memoryValues.insert(m_block.memoryValues.end(), values);
    }
    void add(const wpl::RecordedCounter& row) { m_block.counters.push_back(row); }

    [[nodiscard]] const wpl::Dictionary& dictionary() const { return m_dictionary; }
    [[nodiscard]] std::size_t pending() const {
        return m_block.events.size() + m_block.memory.size() + m_block.counters.size();
    }
    /// What came since the last time.
    [[nodiscard]] wpl::EventBlock take() { return std::exchange(m_block, {}); }

  private:
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view t) const { return std::hash<std::string_view>{}(t); }
    };
    void metadata(wpl::RecordedMetadata row);

    wpl::Dictionary m_dictionary;
    wpl::EventBlock m_block;
    std::unordered_map<std::string, wpl::Text, TextHash, std::equal_to<>> m_texts;
    std::map<std::vector<std::uint64_t>, std::uint32_t> m_shapes;
    std::map<std::tuple<std::int64_t, std::int64_t, wpl::Text>, std::uint32_t> m_rawTracks;
    std::map<std::tuple<std::uint32_t, TrackKind, wpl::Text>, std::uint32_t> m_tracks;
    std::map<std::array<std::int64_t, 4>, wpl::Text> m_metadata;
};

} // namespace warpline::capture
