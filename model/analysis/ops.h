// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/stacks.h"
#include "model/base/result.h"
#include "model/store/trace.h"

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace warpline {

/// The tree of ops, annotations and runtime calls of each thread as torch.profiler builds it for
/// key_averages(): nested by full containment, runtime calls on their op's thread, an only child of its
/// parent's name taken as the same call, device work given to the innermost op open at its launch. Python
/// frames, overhead and GPU annotations stay out. Built once a trace.
class OpTree {
  public:
    static std::shared_ptr<const OpTree> build(TracePtr trace);

    /// A node of the tree; nodes are ordered by thread, then start.
    struct Nodes {
        Column<SliceId> slice;
        Column<std::uint32_t> parent; ///< node index + 1; 0 = root
        Column<TimeNs> selfCpu;     ///< duration less the direct children's; may be negative where torch's is
        Column<TimeNs> selfDevice;  ///< durations of the device work it launched itself
        Column<TimeNs> totalDevice; ///< its own and its descendants'
        [[nodiscard]] std::size_t size() const { return slice.size(); }
    };
    /// All device work of the trace in order of start, and the node it belongs to.
    struct Work {
        Column<SliceId> slice;
        Column<std::uint32_t> node; ///< node index + 1; 0 = nobody's
        [[nodiscard]] std::size_t size() const { return slice.size(); }
    };
    /// The [memory] records while a node was open, on any thread: rows [first, last) of Trace::memory.
    /// Empty where the trace has no such records.
    struct MemoryRows {
        Column<std::uint32_t> first;
        Column<std::uint32_t> last;
    };
    [[nodiscard]] const Work& work() const { return m_work; }
    [[nodiscard]] const MemoryRows& memoryRows() const { return m_memoryRows; }
    [[nodiscard]] const Nodes& nodes() const { return m_nodes; }
    [[nodiscard]] const Trace& trace() const { return *m_trace; }
    [[nodiscard]] const TracePtr& tracePtr() const { return m_trace; }
    /// The ops open at a node, outermost first, the node last: slices.
    [[nodiscard]] std::vector<SliceId> chain(std::uint32_t node) const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    friend class OpTreeBuilder;
    TracePtr m_trace;
    Nodes m_nodes;
    Work m_work;
    MemoryRows m_memoryRows;
};

using OpTreePtr = std::shared_ptr<const OpTree>;

enum class OpRows { Ops, Annotations, Kernels, Runtime, Python };
enum class OpGroup {
    Name,
    Shape,  ///< name and input shape
    Stack,  ///< name and the Python lines that called it
    Module, ///< name and the modules that called it
};

/// The frames of a stack that a group is told by, innermost first: Python lines (without plumbing) for
/// OpGroup::Stack, modules for OpGroup::Module, none for others.
std::vector<FrameId> opGroupFrames(const TraceStacks& stacks, StackId stack, OpGroup group);
/// The innermost Python line of the program itself in a stack; where there is none, the innermost Python line
/// that is no plumbing; none where there is no Python line.
FrameId sourceOf(const TraceStacks& stacks, StackId stack);

struct OpQuery {
    OpRows rows = OpRows::Ops;
    OpGroup group = OpGroup::Name;
    /// The stacks of the same trace: needed to group by stack or module, and for OpRow::source; else null.
    TraceStacksPtr stacks;
    std::optional<TimeRange> range; ///< events that start in it
    std::span<const char> only;     ///< a SliceMask: events that count; empty = all
    bool memory = true;             ///< fill the memory columns
    bool deviceBusy = true;         ///< fill deviceBusy
};

/// One row, summed over its events. Rules: torch's key_averages(), see the head of ops.cpp.
struct OpRow {
    StringId name;  ///< ProfilerStep#N as ProfilerStep*
    StringId shape; ///< JSON of "Input Dims"; none unless grouped by shape
    /// Grouped by stack or module: the stack of one event of the row. All of its events have the same Python
    /// lines, or modules, in theirs.
    StackId stack;
    /// The innermost Python line of the program itself above the row's longest event, where stacks are given.
    FrameId source;
    std::uint64_t count = 0;
    TimeNs selfCpu = 0;
    TimeNs cpuTotal = 0;
    TimeNs selfDevice = 0;
    TimeNs deviceTotal = 0;
    TimeNs deviceBusy = 0;      ///< union in time of the device work below it: never more than wall time
    TimeNs deviceSpan = 0;      ///< annotations: first start to last end of their device work, summed
    std::int64_t cpuMemory = 0; ///< bytes allocated less freed while its events were open, any thread
    std::int64_t selfCpuMemory = 0;
    std::int64_t deviceMemory = 0;
    std::int64_t selfDeviceMemory = 0;
    SliceId longest; ///< an event of the row to go to: the longest
};

struct OpTable {
    std::vector<OpRow> rows;    ///< by selfDevice, then selfCpu, descending
    TimeNs selfCpuTotal = 0;    ///< sum of selfCpu over ops, annotations and runtime calls in the range
    TimeNs selfDeviceTotal = 0; ///< sum of the durations of device work in the range
    TimeNs deviceBusy = 0;      ///< union per device, summed over devices
    TimeNs span = 0;            ///< length of the range
    bool hasDeviceTime = false;
    bool hasMemory = false;
    bool hasShapes = false;
};

Result<OpTable> opTable(const OpTree& tree, const OpQuery& query, std::stop_token stop = {});

/// One kernel (or copy, or set) name on one device.
struct KernelRow {
    StringId name;
    std::uint32_t process = 0; ///< the device
    std::vector<std::int64_t> streams;
    std::uint64_t count = 0;
    TimeNs total = 0, average = 0, min = 0, median = 0, max = 0;
    double share = 0; ///< of the durations of all device work in the range
    /// From the launches' arguments; -1 where the file does not say. Averages weighted by duration.
    double occupancyPercent = -1;
    std::int64_t registers = -1;
    std::int64_t sharedMemoryBytes = -1;
    enum class TensorCore { Unknown, No, Yes };
    TensorCore tensorCore = TensorCore::Unknown; ///< from the kernel's name
    SliceKind kind = SliceKind::Kernel;
    SliceId longest;
};

struct KernelTable {
    std::vector<KernelRow> rows; ///< by total, descending
    TimeNs total = 0;
};

/// `only` is a SliceMask of the events that count; empty = all.
Result<KernelTable> kernelTable(const Trace& trace, std::optional<TimeRange> range = {},
                                std::stop_token stop = {}, std::span<const char> only = {});

} // namespace warpline
