// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"
#include "model/import/byte_source.h"
#include "model/import/import.h"
#include "model/store/profile.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpline::flame {

/// A unit as files name it and how many of ours one of it is, as a power of ten.
struct FileUnit {
    WeightUnit unit = WeightUnit::Count;
    int exponent = 0; ///< "milliseconds": 6
};
/// "nanoseconds", "seconds", "bytes", "none"; a count for what is not known.
FileUnit fileUnit(std::string_view name);

/// A decimal number times ten to the `exponent`, exactly; what is finer than 1 is rounded and `rounded` set.
/// False where it is no number or does not fit.
bool parseScaled(std::string_view text, int exponent, std::int64_t& out, bool& rounded);

/// A stretch of time in which a frame was on the stack.
struct Span {
    FrameId frame;
    TimeNs start = 0;
    TimeNs end = 0;
};

/// Gathers one profile.
class ProfileBuilder {
  public:
    ProfileBuilder(std::shared_ptr<FrameTable> frames, const ByteSource& source, std::string format);

    FrameTable& frames() { return *m_frames; }
    StackTable& stacks() { return *m_stacks; }
    Profile& profile() { return *m_profile; }

    /// False where sums grow beyond what can be counted.
    bool add(StackId stack, std::int64_t weight, std::uint64_t count = 1);
    /// A thing that was left out or repaired.
    void note(const char* id, Diagnostic::Severity severity, std::uint64_t offset);
    [[nodiscard]] std::uint64_t noted(std::string_view id) const;

    /// On a time axis too; spans in the order in which they began.
    std::vector<Span>& spans() { return m_spans; }

    Result<ProfilePtr> finish(const ImportOptions& options);

  private:
    struct Note {
        const char* id;
        Diagnostic::Severity severity;
        std::uint64_t count;
        std::uint64_t offset;
    };
    Result<Done> makeTimeline(const ImportOptions& options);

    std::shared_ptr<Profile> m_profile;
    std::shared_ptr<FrameTable> m_frames;
    std::shared_ptr<StackTable> m_stacks;
    std::vector<std::int64_t> m_weight; ///< by stack
    std::vector<std::uint64_t> m_count;
    std::vector<Note> m_notes;
    std::vector<Span> m_spans;
};

/// A name as profiles have it: C++ names demangled, torch's "train.py(46):_forward" as a Python line.
FrameId frameOfName(FrameTable& frames, std::string_view name);

} // namespace warpline::flame
