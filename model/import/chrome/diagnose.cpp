// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/diagnose.h"

#include "model/base/format.h"

#include <fmt/format.h>

#include <array>

namespace warpline::chrome {

namespace {

using Severity = Diagnostic::Severity;

struct Sentence {
    const char* id;
    Severity severity;
    const char* one;  ///< for a count of one
    const char* many; ///< {} is the count
};

constexpr std::array<Sentence, kOddityCount> kOddities = {{
    {"negative_duration", Severity::Warning, "1 event has a negative duration; it is shown as a moment.",
     "{} events have a negative duration; they are shown as moments."},
    {"missing_duration", Severity::Warning, "1 complete event has no duration; it is shown as a moment.",
     "{} complete events have no duration; they are shown as moments."},
    {"missing_time", Severity::DataLoss, "1 event has no time that can be read and cannot be placed.",
     "{} events have no time that can be read and cannot be placed."},
    {"unknown_phase", Severity::Warning,
     "1 event is of a phase that is not in the format; it is shown as a moment.",
     "{} events are of a phase that is not in the format; they are shown as moments."},
    {"empty_event", Severity::Info, "1 entry of the event list is empty ({{}}).",
     "{} entries of the event list are empty ({{}})."},
    {"not_an_object", Severity::DataLoss, "1 entry of the event list is not an object; it was skipped.",
     "{} entries of the event list are not objects; they were skipped."},
    {"lost_arguments", Severity::DataLoss, "1 event's arguments did not fit into memory.",
     "{} events' arguments did not fit into memory."},
    {"control_character", Severity::Info, "1 event holds raw control characters; they were kept.",
     "{} events hold raw control characters; they were kept."},
    {"bad_escape", Severity::Info, "1 event holds a backslash that escapes nothing; it was kept as text.",
     "{} events hold backslashes that escape nothing; they were kept as text."},
    {"unescaped_quote", Severity::Warning,
     "1 event holds quotes within a text that are not escaped; they were kept as text.",
     "{} events hold quotes within a text that are not escaped; they were kept as text."},
    {"bare_number", Severity::Warning, "1 event holds NaN or Infinity; the value was left out.",
     "{} events hold NaN or Infinity; the values were left out."},
    {"extra_comma", Severity::Info, "1 comma too many was passed over.",
     "{} commas too many were passed over."},
    {"missing_comma", Severity::Info, "1 missing comma was taken as there.",
     "{} missing commas were taken as there."},
    {"invalid_utf8", Severity::Warning, "1 event holds bytes that are no UTF-8; each is shown as U+FFFD.",
     "{} events hold bytes that are no UTF-8; each is shown as U+FFFD."},
    {"garbage", Severity::DataLoss, "1 stretch of the event list is no event; it was skipped.",
     "{} stretches of the event list are no events; they were skipped."},
    {"restart", Severity::Info, "The file holds a second event list; its events were read too.",
     "The file holds {} further event lists; their events were read too."},
    {"truncated_event", Severity::DataLoss, "The last event is cut off; what there is of it was kept.",
     "{} events are cut off; what there is of them was kept."},
    {"unreadable_event", Severity::DataLoss, "1 event could not be made sense of and was skipped.",
     "{} events could not be made sense of and were skipped."},
}};

void say(Diagnostics& out, const Sentence& s, const Tally& tally) {
    if (tally.count == 0)
        return;
    Diagnostic d;
    d.id = s.id;
    d.severity = s.severity;
    d.count = tally.count;
    d.message = fmt::format(fmt::runtime(tally.count == 1 ? s.one : s.many),
                            formatCount(static_cast<std::int64_t>(tally.count)));
    d.firstOffset = tally.firstOffset;
    d.firstTime = tally.firstTime;
    out.set(std::move(d));
}

/// "between 12.1 ms and 40 ms": where launches without device work lie.
std::string place(const Trace& trace, TimeNs time) {
    return fmt::format("{} after the trace begins", formatDuration(time - trace.extent.begin));
}

} // namespace

void diagnose(Trace& trace, const FrameReport& frame, const Tallies& tallies, const PairReport& pairs,
              const LinkReport& links, const CounterReport& counters) {
    Diagnostics& out = trace.diagnostics;
    if (frame.damage) {
        out.set({"compressed_stream_damaged", Severity::DataLoss, 1, frame.damage->message,
                 frame.damage->offset, INT64_MIN});
    }
    if (frame.unclosed) {
        out.set({"unclosed", Severity::Warning, 1,
                 "The file ends within its event list: the program that wrote it was stopped, or is not done "
                 "yet.",
                 Diagnostic::kNoOffset, INT64_MIN});
    }
    if (frame.broken) {
        out.set(
            {"broken_frame", Severity::Warning, 1,
             "What stands around the event list is not JSON; some of the trace's properties may be missing.",
             frame.brokenAt, INT64_MIN});
    }
    say(out,
        {"dropped_properties", Severity::DataLoss,
         "1 value beside the event list is too long and was left out.",
         "{} values beside the event list are too long together and were left out."},
        {frame.droppedProperties, Diagnostic::kNoOffset, INT64_MIN});
    say(out,
        {"counter_without_number", Severity::DataLoss,
         "1 value of a counter is not a number; it was left out.",
         "{} values of counters are not numbers; they were left out."},
        counters.notNumbers);
    Tallies all = tallies;
    all[static_cast<std::size_t>(Oddity::Restart)].count += frame.restarts;
    for (std::size_t i = 0; i < all.size(); ++i) {
        Tally t = all[i];
        if (t.firstTime != INT64_MIN)
            t.firstTime += trace.baseTime;
        say(out, kOddities[i], t);
    }
    const auto based = [&](Tally t) {
        if (t.firstTime != INT64_MIN)
            t.firstTime += trace.baseTime;
        return t;
    };
    say(out,
        {"end_without_begin", Severity::DataLoss, "1 end event has no begin; it cannot be placed.",
         "{} end events have no begin; they cannot be placed."},
        based(pairs.endWithoutBegin));
    say(out,
        {"begin_without_end", Severity::Warning,
         "1 event begins and never ends; it is drawn to the end of the trace.",
         "{} events begin and never end; they are drawn to the end of the trace."},
        based(pairs.beginWithoutEnd));
    say(out,
        {"end_out_of_order", Severity::Info, "1 end event names a frame that is not the innermost one.",
         "{} end events name a frame that is not the innermost one."},
        based(pairs.endOutOfOrder));
    if (links.launchWithoutKernel.count > 0) {
        const auto& t = links.launchWithoutKernel;
        out.set({"launch_without_kernel", Severity::Warning, t.count,
                 fmt::format("{} launches or copies have no device work in the trace (first {}): it ran "
                             "outside the recorded "
                             "window, or the profiler lost its record.",
                             formatCount(static_cast<std::int64_t>(t.count)), place(trace, t.firstTime)),
                 Diagnostic::kNoOffset, t.firstTime});
    }
    if (links.kernelWithoutLaunch.count > 0) {
        const auto& t = links.kernelWithoutLaunch;
        out.set({"kernel_without_launch", Severity::Info, t.count,
                 fmt::format("{} kernels, copies or sets have no launch in the trace (first {}); they cannot "
                             "be led back to an op.",
                             formatCount(static_cast<std::int64_t>(t.count)), place(trace, t.firstTime)),
                 Diagnostic::kNoOffset, t.firstTime});
    }
    if (links.clockInversion.count > 0) {
        const auto& t = links.clockInversion;
        out.set({"clock_inversion", Severity::Warning, t.count,
                 fmt::format("{} kernels, copies or sets begin before their launch does (first {}): the "
                             "clocks of host and device "
                             "disagree there. They are linked all the same.",
                             formatCount(static_cast<std::int64_t>(t.count)), place(trace, t.firstTime)),
                 Diagnostic::kNoOffset, t.firstTime});
    }
    say(out,
        {"dangling_flow", Severity::Info, "1 arrow has only one end in the file.",
         "{} arrows' ends have no other end in the file."},
        links.danglingFlow);
    say(out,
        {"flow_without_slice", Severity::Info, "1 end of an arrow lies where no event is.",
         "{} ends of arrows lie where no event is."},
        links.flowWithoutSlice);
}

} // namespace warpline::chrome
