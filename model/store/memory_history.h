// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/base/time.h"
#include "model/store/diagnostics.h"
#include "model/store/string_pool.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpline {

/// A moment of an allocator's history, counted in events that have happened: 0 is before the first event,
/// e + 1 right after event e. What lives from moment a to moment b is alive at m where a <= m < b.
using Moment = std::uint32_t;
inline constexpr Moment kBeforeHistory = 0;        ///< birth of what was there before the history began
inline constexpr Moment kAliveAtEnd = 0xFFFFFFFFu; ///< death of what the history does not see die
inline constexpr Moment kNever = 0xFFFFFFFFu;      ///< no such moment

/// What an allocator event is. "free" of older files is FreeCompleted.
enum class MemoryAction : std::uint8_t {
    Alloc,         ///< a block is handed out
    FreeRequested, ///< given back by the program; its bytes count until the streams that use it are done
    FreeCompleted, ///< may be handed out again
    SegmentAlloc,  ///< memory taken from the driver
    SegmentFree,   ///< memory returned to the driver
    SegmentMap,    ///< an expandable segment grew
    SegmentUnmap,  ///< an expandable segment shrank
    Snapshot,
    OutOfMemory,
    Annotate,
    Other, ///< an action that this version does not know; kept, without effect
};
inline constexpr int kMemoryActionCount = 11;
/// "alloc", "free requested" and so on, for people.
[[nodiscard]] const char* memoryActionName(MemoryAction action);

/// What a block holds, as far as it can be told; model/analysis/memory_categories.h has the rules.
enum class MemoryCategory : std::uint8_t {
    Unknown,
    Parameter,
    Gradient,
    OptimizerState,
    Activation,
    Temporary,
};
inline constexpr int kMemoryCategoryCount = 6;
/// "parameters", "gradients", "optimizer state", "activations", "temporaries", "unknown".
[[nodiscard]] const char* memoryCategoryName(MemoryCategory category);

/// One line of one function, once a history.
struct MemoryFrame {
    StringId file; ///< none where the writer gave a text only; "??" of C++ frames is kept
    StringId name; ///< function, or op where the history was made from a trace
    StringId fx;   ///< what torch.fx knows of the node ("call_function linear"), none mostly
    std::int64_t line = 0;
    bool operator==(const MemoryFrame&) const = default;
};

/// All stacks of a history as one tree: a stack is its innermost frame and the stack of the caller. Stacks
/// that begin alike share their outer part.
class StackTree {
  public:
    struct Node {
        FrameId frame;
        StackId caller; ///< none for an outermost frame
        std::uint32_t depth = 1;
    };

    [[nodiscard]] const Node& node(StackId id) const { return m_nodes[id.index()]; }
    [[nodiscard]] const MemoryFrame& frame(FrameId id) const { return m_frames[id.index()]; }
    [[nodiscard]] std::size_t stackCount() const { return m_nodes.size(); }
    [[nodiscard]] std::size_t frameCount() const { return m_frames.size(); }
    /// Frames of a stack, innermost first; empty for none.
    [[nodiscard]] std::vector<FrameId> frames(StackId id) const;
    [[nodiscard]] std::size_t bytes() const;

    /// For who builds one: the id of an equal frame or of a new one.
    FrameId addFrame(const MemoryFrame& frame);
    StackId addStack(StackId caller, FrameId frame);
    /// Gives back what only adding needs. Adding still works after it, slowly once.
    void finish();

  private:
    std::vector<MemoryFrame> m_frames;
    std::vector<Node> m_nodes;
    std::vector<std::uint32_t> m_frameSlots; ///< open addressing; 0 = free
    std::vector<std::uint32_t> m_nodeSlots;
};

/// The events of one device in the order of the file; about 42 bytes a row.
struct MemoryEventTable {
    Column<TimeNs> time; ///< ascending: one that goes back is raised to the one before (a diagnostic tells);
                         ///< 0 all over where the file has no times
    Column<std::uint64_t> address;
    Column<std::int64_t> size; ///< bytes as asked for (blocks) or taken (segments)
    Column<StackId> stack;
    Column<BlockId> block;        ///< the block it opened, asked to free or closed; none for others
    Column<std::uint32_t> stream; ///< index into MemoryDevice::streams
    Column<std::uint16_t> pool;   ///< index into MemoryDevice::pools
    Column<MemoryAction> action;
    /// Empty where no event has one: compile_context, user_metadata (as text), forward_frames.
    Column<StringId> compileContext;
    Column<StringId> userMetadata;
    Column<StackId> forwardStack;

    [[nodiscard]] std::size_t count() const { return action.size(); }
};

namespace BlockFlag {
inline constexpr std::uint8_t UnmatchedFree =
    1;                                          ///< known only from its free: its stack is where it was freed
inline constexpr std::uint8_t ImplicitFree = 2; ///< closed because its address was handed out again
inline constexpr std::uint8_t PendingAtEnd = 4; ///< free requested, not completed when the file was written
inline constexpr std::uint8_t ExactAllocated = 8; ///< `allocated` is the file's, not worked out by the rule
inline constexpr std::uint8_t SizeFromSegments = 16; ///< known from the final segments only
} // namespace BlockFlag

/// Why a block has its category; categoryEvidence() makes a sentence of it.
enum class CategoryEvidence : std::uint8_t {
    None,
    FileSays,         ///< the file names the category
    OptimizerStack,   ///< allocated inside an optimizer's step (stack or annotation), and kept
    OptimizerScratch, ///< allocated inside an optimizer's step and freed before it was over
    BackwardKept,     ///< allocated in the backward pass, freed by zero_grad or the next step's
    BackwardFreed,    ///< allocated in the backward pass and freed within it
    ForwardKept,      ///< allocated in the forward pass and freed in the backward pass of the same step
    ForwardFreed,     ///< allocated and freed within the forward pass
    ModuleBuild,      ///< allocated while a module was built or moved to the device, and kept
    Brief,            ///< freed within a few events of its allocation
};

/// Blocks of one device: first those that were there before the history (lowest: never freed, then the
/// ones freed last to first), then by birth. That is the order in which the layout stacks them, bottom up.
/// About 52 bytes a row, a row about three events.
struct MemoryBlockTable {
    Column<std::uint64_t> address;
    Column<std::int64_t> size;      ///< bytes asked for: what the requested curve and all sums count
    Column<std::int64_t> allocated; ///< bytes of the block, rounded up by the allocator
    Column<Moment> birth;
    Column<Moment> death;         ///< when the free was completed
    Column<Moment> freeRequested; ///< kNever where no event says
    Column<StackId> stack;
    Column<std::uint32_t> stream;
    Column<std::uint16_t> pool;
    Column<MemoryCategory> category;
    Column<CategoryEvidence> evidence;
    Column<std::uint8_t> flags; ///< BlockFlag

    [[nodiscard]] std::size_t count() const { return address.size(); }
    [[nodiscard]] bool aliveAt(std::size_t row, Moment m) const { return birth[row] <= m && m < death[row]; }
};

/// Memory taken from the driver: stretches of addresses with a birth and a death, never overlapping at one
/// moment. A growing expandable segment is several rows that touch; query/memory_state.h joins them.
struct MemorySegmentTable {
    Column<std::uint64_t> address;
    Column<std::int64_t> size;
    Column<Moment> birth;
    Column<Moment> death;
    Column<StackId> stack;
    Column<std::uint32_t> stream;
    Column<std::uint16_t> pool;
    Column<std::uint8_t> flags; ///< SegmentFlag

    [[nodiscard]] std::size_t count() const { return address.size(); }
};
namespace SegmentFlag {
inline constexpr std::uint8_t Small = 1;      ///< of the pool for blocks of at most 1 MiB
inline constexpr std::uint8_t Expandable = 2; ///< mapped piece by piece
inline constexpr std::uint8_t KindKnown = 4;  ///< the file says whether it is small
} // namespace SegmentFlag

/// A pool of an allocator; (0, 0) is the one that everything shares, others belong to CUDA graphs or to
/// torch.cuda.MemPool.
struct MemoryPool {
    std::int64_t owner = 0;
    std::int64_t id = 0;
    bool known = true; ///< false: of the pool of these blocks nothing is known
    [[nodiscard]] bool isPrivate() const { return known && (owner != 0 || id != 0); }
    bool operator==(const MemoryPool&) const = default;
};

/// The segments when the file was written, as the file sums them up.
struct SegmentTotals {
    std::uint64_t count = 0;
    std::int64_t reserved = 0;    ///< total_size
    std::int64_t allocated = 0;   ///< allocated_size: without blocks whose free is pending
    std::int64_t active = 0;      ///< active_size: with them
    std::int64_t requested = 0;   ///< requested_size, or what the blocks say where the file has none
    std::int64_t largestFree = 0; ///< the largest inactive block
};

/// The allocator said no.
struct OutOfMemoryEvent {
    std::uint32_t event = 0;
    std::int64_t requested = 0;
    std::int64_t deviceFree = -1; ///< what the driver had left; -1 = the file does not say
};

/// A value after each event: column[m] is the value at moment m: one more than events.
struct MemoryCurves {
    Column<std::int64_t> requested; ///< sum of MemoryBlockTable::size of the live blocks
    Column<std::int64_t> allocated; ///< the same of MemoryBlockTable::allocated
    Column<std::int64_t> reserved;  ///< bytes taken from the driver
    bool allocatedExact =
        false; ///< every block's rounded size is the file's; else worked out by the allocator's rule
};

/// A peak of a curve: the first moment of its highest value.
struct MemoryPeak {
    Moment moment = 0;
    std::int64_t requested = 0;
    std::int64_t allocated = 0;
    std::int64_t reserved = 0;
};

/// The memory of one device (or of the host's pinned allocator) as one process's allocator saw it.
struct MemoryDevice {
    std::int64_t ordinal = 0;
    bool host = false; ///< pinned host memory
    bool hasTimes = false;
    bool hasAddresses = true; ///< false: addresses were counted up from the segments' (oldest files)
    MemoryEventTable events;
    MemoryBlockTable blocks;
    MemorySegmentTable segments;
    MemoryCurves curves;
    SegmentTotals totals;
    std::vector<std::int64_t> streams; ///< stream ids by first appearance
    std::vector<MemoryPool> pools;     ///< [0] is the shared one
    std::vector<OutOfMemoryEvent> outOfMemory;
    /// Highest values of the three curves, first moments.
    MemoryPeak peakRequested, peakAllocated, peakReserved;
    std::uint64_t unmatchedFrees = 0; ///< frees of blocks whose allocation the history does not have
    std::uint64_t implicitFrees = 0; ///< allocations at an address that was still in use: the older block was
                                     ///< closed there
    std::int64_t preexistingBytes = 0; ///< bytes (asked for) that were there before the history
    std::size_t preexistingBlocks = 0; ///< rows [0, preexistingBlocks) of `blocks`
    /// No sign that events are missing: nothing unmatched, nothing implicit, no overflow told by the file.
    bool complete = true;
    bool recorded = true; ///< false: no history at all, only the state at the end

    [[nodiscard]] Moment lastMoment() const { return static_cast<Moment>(events.count()); }
    /// When a moment was: the time of its event, of the first event for moment 0. 0 without times.
    [[nodiscard]] TimeNs timeOf(Moment m) const;
    /// The moment that holds at a time: after all events up to and at `t`.
    [[nodiscard]] Moment momentAt(TimeNs t) const;
    /// From the first event to the last.
    [[nodiscard]] TimeRange extent() const;
    /// "GPU 0", "pinned host memory".
    [[nodiscard]] std::string name() const;
    /// "stream 0", "stream 1"...: numbered by appearance, 0 the default one; handles say nothing to people.
    [[nodiscard]] std::string streamName(std::uint32_t stream) const;
    /// "shared", "private (0, 1)", "unknown".
    [[nodiscard]] std::string poolName(std::uint16_t pool) const;
    [[nodiscard]] std::size_t bytes() const;
};

/// A record_function range that was open while the history was recorded.
struct MemoryAnnotation {
    StringId name;
    std::int64_t device = 0;
    TimeRange range;
    bool open = false; ///< its end (or begin) is not in the file; drawn to the edge of the history
};

/// What an allocator did: one snapshot file, or the allocator records of a trace. Immutable once built and
/// shared as shared_ptr<const MemoryHistory>. Times are nanoseconds since the Unix epoch, the clock of
/// torch's profiler in the same run.
struct MemoryHistory {
    std::string path;   ///< as opened; FILE!MEMBER for a member of an archive
    std::string format; ///< "PyTorch memory snapshot (pickle)", "... (JSON)", "... (SQLite)", "Kineto trace"
    std::string compression; ///< "", "gzip", "zstd", "zip"
    std::uint64_t fileBytes = 0;
    bool fromTrace = false; ///< made of a trace's [memory] instants: stacks are the enclosing slices

    StringPool strings;
    StackTree stacks;
    std::vector<MemoryDevice> devices;                         ///< by ordinal; the host's last
    std::vector<MemoryAnnotation> annotations;                 ///< by begin, the longer first
    std::vector<std::pair<std::string, std::string>> settings; ///< allocator_settings, in the file's order
    Diagnostics diagnostics;
    bool absoluteTime = false; ///< any device has times, and they are dates
    TimeRange extent;          ///< of all devices with times

    /// The device with that ordinal, or null.
    [[nodiscard]] const MemoryDevice* device(std::int64_t ordinal) const;
    /// "forward (layer_3.py:41)"; only the file's last part.
    [[nodiscard]] std::string frameText(FrameId frame) const;
    [[nodiscard]] std::size_t bytes() const;
};

using MemoryHistoryPtr = std::shared_ptr<const MemoryHistory>;

} // namespace warpline
