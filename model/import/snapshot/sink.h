// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/snapshot/words.h"
#include "model/store/memory_builder.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpline::snapshot {

/// One end of a record_function range.
struct AnnotationMark {
    StringId name;
    bool end = false;
    std::int64_t device = 0;
    std::optional<TimeNs> time;
};

/// What all forms of a snapshot (pickle, JSON, SQLite) fill: texts and stacks as they come, events in
/// builders, then the whole history.
class Sink {
  public:
    Sink();

    [[nodiscard]] StringPool& strings() { return m_history->strings; }
    [[nodiscard]] StackTree& stacks() { return m_history->stacks; }
    /// A text made valid UTF-8, and its id.
    StringId text(std::string_view text);

    /// The builder of a device's (or the host's) rows. An ordinal beyond what a machine has is counted as odd
    /// and goes to none.
    MemoryDeviceBuilder* device(std::int64_t ordinal, bool host);
    /// Takes the events of device `ordinal` over as they were collected.
    void setEvents(std::int64_t ordinal, bool host, MemoryDeviceBuilder&& events);
    void addSegment(RawMemorySegment segment, bool host);
    void addSegments(std::vector<RawMemorySegment>&& segments, bool host);
    void addAnnotation(const AnnotationMark& mark) { m_marks.push_back(mark); }
    void addSetting(std::string name, std::string value) {
        m_history->settings.emplace_back(std::move(name), std::move(value));
    }
    RoundingRule& rounding() { return m_rounding; }

    /// What the readers saw.
    bool overflowed = false;      ///< the file says that its ring of events ran over
    std::int64_t maxEntries = -1; ///< the size of that ring
    std::uint64_t odd = 0;        ///< values of a kind that does not belong where they stood
    std::uint64_t firstOdd = Diagnostic::kNoOffset;
    std::vector<std::string> unknownKeys;                     ///< of the top dictionary
    std::optional<std::pair<std::string, std::uint64_t>> cut; ///< where and why the file ended early
    bool sawHistory = false;                                  ///< device_traces were there, empty or not

    void addOdd(std::uint64_t offset) {
        if (odd++ == 0)
            firstOdd = offset;
    }

    /// Makes the history; the sink is of no use after it.
    std::shared_ptr<MemoryHistory> finish();

  private:
    void finishAnnotations();
    void diagnose(const MemoryDeviceBuilder::Oddities& odd);
    void diagnoseHistory(const MemoryDevice& device);

    std::shared_ptr<MemoryHistory> m_history;
    std::map<std::pair<bool, std::int64_t>, MemoryDeviceBuilder> m_devices;
    std::vector<AnnotationMark> m_marks;
    RoundingRule m_rounding;
};

} // namespace warpline::snapshot
