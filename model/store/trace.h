// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/base/time.h"
#include "model/store/args.h"
#include "model/store/diagnostics.h"
#include "model/store/string_pool.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace warpline {

/// What an event is, whatever the writer called it. Derived from its category (semantics: Kineto's names, old
/// and new).
enum class SliceKind : std::uint8_t {
    Other,         ///< any span of a host thread that is none of the below
    CpuOp,         ///< cpu_op, Operator
    Annotation,    ///< user_annotation
    Python,        ///< python_function
    Runtime,       ///< cuda_runtime, Runtime and the other vendors' runtimes
    Driver,        ///< cuda_driver
    Kernel,        ///< kernel, Kernel and the other vendors' device work
    Copy,          ///< gpu_memcpy, Memcpy
    Set,           ///< gpu_memset, Memset
    GpuAnnotation, ///< gpu_user_annotation: a span from first to last kernel, not busy time
    Sync,          ///< cuda_sync, cuda_event
    Overhead,      ///< the profiler's own
};
inline constexpr int kSliceKindCount = 12;

[[nodiscard]] constexpr bool isDeviceWork(SliceKind k) {
    return k == SliceKind::Kernel || k == SliceKind::Copy || k == SliceKind::Set;
}
[[nodiscard]] constexpr bool isApiCall(SliceKind k) {
    return k == SliceKind::Runtime || k == SliceKind::Driver;
}
/// "kernel", "CPU op" and so on, for people.
[[nodiscard]] const char* sliceKindName(SliceKind k);

namespace SliceFlag {
inline constexpr std::uint8_t Instant = 1;          ///< a moment, not a span; duration 0
inline constexpr std::uint8_t Unfinished = 2;       ///< began and never ended; drawn to the end of the trace
inline constexpr std::uint8_t NegativeDuration = 4; ///< the file said less than 0; kept as 0
inline constexpr std::uint8_t NoDuration = 8;       ///< a complete event without "dur"
inline constexpr std::uint8_t Untimed = 16;  ///< ts 0 in a trace that starts much later; not in extents
inline constexpr std::uint8_t FromPair = 32; ///< came as B and E
inline constexpr std::uint8_t Async = 64;    ///< came as b/e, S/F
} // namespace SliceFlag

struct Category {
    StringId name;
    SliceKind kind = SliceKind::Other;
};

/// What a track holds.
enum class TrackKind : std::uint8_t {
    Thread,        ///< ops, annotations, runtime calls of one host thread, nested
    Python,        ///< Python frames of one host thread, nested
    Stream,        ///< kernels, copies and sets of one stream
    GpuAnnotation, ///< annotations projected on one stream
    GpuSync,       ///< waits of one stream
    Async,         ///< asynchronous events of one process, by name and id
    Overhead,      ///< the profiler's own work
};

/// A process of the host, or a device: whatever the file numbers as "pid".
struct Process {
    std::int64_t pid = 0; ///< for a device its ordinal
    StringId pidText;     ///< where the file has a text for a pid
    bool device = false;  ///< a GPU
    StringId name;        ///< process_name, or the device's name
    StringId labels;      ///< process_labels
    std::int64_t sortIndex = 0;
};

struct Track {
    TrackKind kind = TrackKind::Thread;
    std::uint32_t process = 0; ///< index into Trace::processes
    std::int64_t tid = 0;      ///< thread or stream
    StringId tidText;          ///< where the file has a text for a tid
    StringId name;             ///< thread_name
    std::int64_t sortIndex = 0;
    std::uint32_t firstLane = 0; ///< index into Trace::lanes
    std::uint32_t laneCount = 0;
    std::uint32_t firstSlice = 0; ///< rows [firstSlice, endSlice) of the slice table
    std::uint32_t endSlice = 0;
    TimeRange extent;
};

/// One line of a track: rows [begin, end) of the slice table, ascending in time, no two overlapping.
struct Lane {
    TrackId track;
    std::uint16_t depth = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// The slice table. Rows are ordered by track, then lane (depth), then start, so that a lane is a run of
/// rows. About 32 bytes a row beside its arguments.
struct SliceTable {
    Column<TimeNs> start;
    Column<TimeNs> duration;
    Column<StringId> name;
    Column<SliceId> parent; ///< the innermost slice of the same track that holds this one whole
    Column<ArgStore::Ref> args;
    Column<std::uint16_t> category; ///< index into Trace::categories
    Column<std::uint8_t> flags;     ///< SliceFlag

    [[nodiscard]] std::size_t size() const { return start.size(); }
    [[nodiscard]] TimeNs end(std::size_t row) const { return start[row] + duration[row]; }
};

/// Pairs of slices, found from either side by binary search. Rows are ordered by `from`, then `to`;
/// `byTo` lists the rows ordered by `to`.
struct LinkTable {
    Column<SliceId> from;
    Column<SliceId> to;
    Column<std::uint32_t> byTo;

    [[nodiscard]] std::size_t size() const { return from.size(); }
    /// Rows of the links that leave `s`: [first, second).
    [[nodiscard]] std::pair<std::size_t, std::size_t> leaving(SliceId s) const;
    /// Places in byTo of the links that arrive at `s`: [first, second).
    [[nodiscard]] std::pair<std::size_t, std::size_t> arriving(SliceId s) const;
    /// Takes pairs in any order; equal ones once.
    void build(const std::vector<std::pair<SliceId, SliceId>>& pairs);
};

struct Links {
    LinkTable launch;  ///< runtime or driver call -> device work (correlation)
    LinkTable call;    ///< the innermost op open at a runtime or driver call -> the call (External id)
    LinkTable op;      ///< the innermost op open at the launch -> device work (External id)
    LinkTable forward; ///< forward op -> backward op (fwdbwd arrows)
    LinkTable flow;    ///< any other arrow of the file (s, t, f)
};

/// Counter events of one name: a series of values over time, ascending.
struct CounterTrack {
    std::uint32_t process = 0;
    StringId name;   ///< the counter's
    StringId series; ///< the argument's key
    Column<TimeNs> time;
    Column<double> value;
};

/// [memory] instants of torch's profiler, ascending in time; of a recording what the driver gave and took.
struct MemoryTable {
    Column<TimeNs> time;
    Column<std::int64_t> bytes; ///< > 0 allocated, < 0 freed
    Column<std::uint64_t> address;
    Column<std::int64_t> totalAllocated; ///< after it; -1 where the file does not say
    Column<std::int64_t> totalReserved;
    Column<std::int16_t> device;    ///< ordinal; -1 = host memory
    Column<std::uint32_t> rawTrack; ///< the thread that did it: index into Trace::rawTracks
    Column<ArgStore::Ref> args;
    Column<StringId> name; ///< [memory] or [OutOfMemory]

    [[nodiscard]] std::size_t size() const { return time.size(); }
};

/// Arrows as the file has them (s, t, f), kept so that a trace can be written again whole.
struct FlowTable {
    Column<TimeNs> time;
    Column<std::uint64_t> id;
    Column<StringId> name;
    Column<std::uint32_t> track; ///< index into Trace::rawTracks
    Column<std::uint16_t> category;
    Column<char> phase;
    Column<std::uint8_t> bindEnclosing; ///< "bp":"e"
    Column<ArgStore::Ref> args;

    [[nodiscard]] std::size_t size() const { return time.size(); }
};

/// The pid and tid an event was written under.
struct RawTrack {
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    StringId pidText; ///< where the file has a text instead of the number
    StringId tidText;
    TrackId thread; ///< the Thread track of this pid and tid, if there is one
};

/// A metadata event (M), once however often it was written.
struct MetadataEvent {
    StringId name;
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    StringId pidText;
    StringId tidText;
    StringId args; ///< the JSON of "args"
};

struct DeviceInfo {
    std::int64_t ordinal = 0;
    std::string name;
    std::int64_t memoryBytes = 0;
    int computeMajor = 0;
    int computeMinor = 0;
    int multiprocessors = 0;
};

/// A span of one training or inference step, from the annotations that mark it.
struct Step {
    std::int64_t number = 0;
    SliceId slice;
    TimeRange range;
};

/// Everything one recording holds. Built once, then handed about as shared_ptr<const Trace> and never
/// changed.
struct Trace {
    std::string path;        ///< as opened; FILE!MEMBER for a member of an archive
    std::string format;      ///< "Chrome trace", "Kineto trace"
    std::string compression; ///< "", "gzip", "zstd", "zip", "tar.gz"
    std::uint64_t fileBytes = 0;
    std::uint64_t eventCount = 0;   ///< objects of the event list, of any kind
    std::uint64_t counterCount = 0; ///< counter events (C)
    std::uint64_t metadataCount = 0;
    TimeNs baseTime = 0;       ///< baseTimeNanoseconds of the file
    bool absoluteTime = false; ///< times are a date, not just a distance from an unknown zero
    TimeRange extent;          ///< first start to last end of what has a time

    StringPool strings;
    ArgStore args;
    std::vector<Category> categories;
    std::vector<Process> processes;
    std::vector<Track> tracks; ///< by process, then kind, then tid
    std::vector<Lane> lanes;   ///< by track, then depth
    std::vector<RawTrack> rawTracks;
    SliceTable slices;
    Links links;
    std::vector<CounterTrack> counters;
    MemoryTable memory;
    FlowTable flows;
    std::vector<MetadataEvent> metadata;
    std::vector<DeviceInfo> devices;
    std::vector<Step> steps;
    /// What stood beside the event list: keys and the JSON of their values.
    std::vector<std::pair<std::string, std::string>> properties;
    std::int64_t rank = -1; ///< -1 = the file does not say
    std::int64_t worldSize = -1;
    Diagnostics diagnostics;

    /// Whether a memory record is the driver's own, of a recording. Those happen inside the call that makes
    /// them and have all they say in the columns; an allocator's come after its calls, and say it in
    /// arguments.
    [[nodiscard]] bool isDriverMemory(std::size_t row) const;
    [[nodiscard]] SliceKind kind(std::size_t row) const { return categories[slices.category[row]].kind; }
    [[nodiscard]] SliceKind kind(SliceId id) const { return kind(id.index()); }
    [[nodiscard]] LaneId laneOf(SliceId id) const;
    [[nodiscard]] TrackId trackOf(SliceId id) const;
    [[nodiscard]] std::string_view name(SliceId id) const { return strings.view(slices.name[id.index()]); }
    [[nodiscard]] TimeRange range(SliceId id) const {
        return {slices.start[id.index()], slices.end(id.index())};
    }
    /// "main thread 455", "stream 7": what a track is called.
    [[nodiscard]] std::string trackName(TrackId id) const;
    [[nodiscard]] std::string processName(std::size_t process) const;
    /// Bytes of the columns, strings and arguments; what the trace costs in memory.
    [[nodiscard]] std::size_t bytes() const;
};

using TracePtr = std::shared_ptr<const Trace>;

} // namespace warpline
