// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/column.h"
#include "model/base/result.h"
#include "model/store/frames.h"
#include "model/store/trace.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace warpline {

/// The stack of everything in a trace. A host slice's: the Python lines, modules, annotations and ops around
/// it on its thread, itself last. A kernel's, copy's or set's: that of the call which launched it, then the
/// CUDA graph it belongs to, then itself.
///  - Frames nest by containment; where "Python parent id" names another parent, that one counts.
///  - A span that is still open when one that outlasts it begins is taken to end there, unless nothing is
///    around it: what remains of it would otherwise count twice.
///  - A backward op stands under the last forward op that began before it with its "Sequence number", on the
///    thread that its "Fwd thread id" means (the fwdbwd arrows tell which that is). StackTable::own() keeps
///    where it stood on its own thread.
///  - "Call stack" and "Module Hierarchy" of old traces give an op its Python lines and modules where no
///    Python frames were recorded around it.
/// Built once a trace, off the GUI thread: about 0.2 µs an event; 12 bytes a slice.
class TraceStacks {
  public:
    static Result<std::shared_ptr<const TraceStacks>> build(TracePtr trace, std::stop_token stop = {});

    [[nodiscard]] const Trace& trace() const { return *m_trace; }
    [[nodiscard]] const TracePtr& tracePtr() const { return m_trace; }
    [[nodiscard]] const FrameTable& frames() const { return *m_frames; }
    [[nodiscard]] const FrameTablePtr& framesPtr() const { return m_frames; }
    [[nodiscard]] const StackTable& stacks() const { return *m_stacks; }
    [[nodiscard]] const StackTablePtr& stacksPtr() const { return m_stacks; }

    /// None for what is on no thread and no stream's work: GPU annotations, waits, asynchronous events.
    [[nodiscard]] StackId stackOf(SliceId id) const { return m_stackOf[id.index()]; }
    /// The innermost slice around a host slice on its thread, Python frames among them; none for a root.
    [[nodiscard]] SliceId hostParent(SliceId id) const { return m_hostParent[id.index()]; }
    /// The stack that was open when a row of Trace::memory was written, on its thread.
    [[nodiscard]] StackId stackOfMemory(std::size_t row) const { return m_memoryStack[row]; }
    /// The slice that launched a piece of device work: a runtime call, or the op that is known instead.
    [[nodiscard]] SliceId launchOf(SliceId id) const { return m_hostParent[id.index()]; }
    /// The Thread or Python track's frame of its host thread; none for tracks that are no thread.
    [[nodiscard]] FrameId threadFrame(TrackId id) const { return m_threadFrame[id.index()]; }
    /// Spans that end before they do, for the reason above: (row, end), ascending.
    struct Cut {
        std::uint32_t row;
        TimeNs end;
    };
    [[nodiscard]] const std::vector<Cut>& cuts() const { return m_cuts; }
    /// Where the frame of a stack that was borrowed from a forward op begins: the stack itself is backward
    /// where any frame of it is FrameKind::Backward.
    [[nodiscard]] bool isBackward(StackId id) const;
    [[nodiscard]] std::size_t bytes() const;

  private:
    friend class StackBuilder;
    TracePtr m_trace;
    FrameTablePtr m_frames;
    StackTablePtr m_stacks;
    Column<StackId> m_stackOf;     ///< by row
    Column<SliceId> m_hostParent;  ///< by row; for device work what launched it
    Column<StackId> m_memoryStack; ///< by row of Trace::memory
    std::vector<FrameId> m_threadFrame;
    std::vector<Cut> m_cuts;
};
using TraceStacksPtr = std::shared_ptr<const TraceStacks>;

} // namespace warpline
