// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/slice_filter.h"

#include <algorithm>

namespace warpline {

namespace {

constexpr std::size_t kCheckEvery = 0xFFFF;

bool isOp(FrameKind kind) {
    return kind == FrameKind::Op || kind == FrameKind::Backward;
}

bool isWork(FrameKind kind) {
    return kind == FrameKind::Kernel || kind == FrameKind::Copy || kind == FrameKind::Set;
}

/// Marks a slice and all that was open around it; what is marked has its surroundings marked.
void markAround(const TraceStacks& stacks, SliceId slice, SliceMask& mask) {
    for (; slice && mask[slice.index()] == 0; slice = stacks.hostParent(slice))
        mask[slice.index()] = 1;
}

/// Narrows what counts so far to what counts in another mask too.
void narrow(SliceMask& mask, const SliceMask& by) {
    for (std::size_t i = 0; i < mask.size(); ++i)
        mask[i] = static_cast<char>(mask[i] & by[i]);
}

class Masker {
  public:
    Masker(const TraceStacks& stacks, const SliceFilter& filter, std::stop_token stop)
        : m_stacks(stacks), m_trace(stacks.trace()), m_filter(filter), m_stop(std::move(stop)) {}

    Result<SliceMask> run() {
        SliceMask mask(m_trace.slices.size(), 1);
        if (!m_filter.op.empty() || !m_filter.frames.empty())
            narrow(mask, byStack());
        if (!m_filter.kernel.empty())
            narrow(mask, byKernel());
        if (!m_filter.tracks.empty())
            narrow(mask, byTracks());
        if (m_stop.stop_requested())
            return Error::cancelled();
        return mask;
    }

  private:
    [[nodiscard]] bool stopped(std::size_t row) const {
        return (row & kCheckEvery) == 0 && m_stop.stop_requested();
    }

    [[nodiscard]] SliceMask byStack() const {
        SliceFilter only;
        only.op = m_filter.op;
        only.frames = m_filter.frames;
        const std::vector<char> wanted = stackMask(m_stacks.frames(), m_stacks.stacks(), only);
        SliceMask mask(m_trace.slices.size(), 0);
        for (std::size_t row = 0; row < mask.size() && !stopped(row); ++row)
            mask[row] = wanted[m_stacks.stackOf(SliceId::fromIndex(row)).value];
        return mask;
    }

    [[nodiscard]] SliceMask byKernel() const {
        SliceMask mask(m_trace.slices.size(), 0);
        const StringId name = m_trace.strings.find(m_filter.kernel);
        for (std::size_t row = 0; name && row < mask.size() && !stopped(row); ++row)
            if (m_trace.slices.name[row] == name && isDeviceWork(m_trace.kind(row)))
                markAround(m_stacks, SliceId::fromIndex(row), mask);
        return mask;
    }

    [[nodiscard]] SliceMask byTracks() const {
        std::vector<char> chosen(m_trace.tracks.size(), 0);
        std::vector<FrameId> threads;
        for (const TrackId track : m_filter.tracks) {
            if (track.index() >= chosen.size())
                continue;
            chosen[track.index()] = 1;
            if (const FrameId thread = m_stacks.threadFrame(track))
                threads.push_back(thread);
        }
        // A thread's Python frames and ops lie on tracks of their own.
        for (std::size_t t = 0; t < chosen.size(); ++t) {
            const FrameId thread = m_stacks.threadFrame(TrackId::fromIndex(t));
            if (thread && std::find(threads.begin(), threads.end(), thread) != threads.end())
                chosen[t] = 1;
        }
        SliceMask mask(m_trace.slices.size(), 0);
        for (std::size_t t = 0; t < chosen.size(); ++t) {
            const Track& track = m_trace.tracks[t];
            for (std::uint32_t row = track.firstSlice; row < track.endSlice && !stopped(row); ++row) {
                const SliceId slice = SliceId::fromIndex(row);
                if (track.kind != TrackKind::Stream) {
                    mask[row] = std::max(mask[row], chosen[t]);
                    continue;
                }
                const SliceId launch = m_stacks.launchOf(slice);
                if (chosen[t] != 0)
                    markAround(m_stacks, slice, mask);
                else if (launch && chosen[m_trace.trackOf(launch).index()] != 0)
                    mask[row] = 1;
            }
        }
        return mask;
    }

    const TraceStacks& m_stacks;
    const Trace& m_trace;
    const SliceFilter& m_filter;
    std::stop_token m_stop;
};

} // namespace

Result<SliceMask> sliceMask(const TraceStacks& stacks, const SliceFilter& filter, std::stop_token stop) {
    return Masker(stacks, filter, std::move(stop)).run();
}

std::vector<char> stackMask(const FrameTable& frames, const StackTable& stacks, const SliceFilter& filter) {
    // Which place of the filter's frames a frame can take: names are few beside stacks.
    const auto fits = [&](FrameId id, const std::string& name) {
        const Frame& frame = frames.at(id);
        return frames.name(id) == name || (frame.family && frames.name(frame.family) == name);
    };
    std::vector<std::vector<char>> fit(filter.frames.size());
    std::vector<char> op(frames.size() + 1, 0);
    std::vector<char> kernel(frames.size() + 1, 0);
    for (std::size_t place = 0; place < fit.size(); ++place)
        fit[place].assign(frames.size() + 1, 0);
    for (std::uint32_t f = 1; f <= frames.size(); ++f) {
        const FrameId id{f};
        op[f] = isOp(frames.at(id).kind) && frames.name(id) == filter.op ? 1 : 0;
        kernel[f] = isWork(frames.at(id).kind) && frames.name(id) == filter.kernel ? 1 : 0;
        for (std::size_t place = 0; place < fit.size(); ++place)
            fit[place][f] = fits(id, filter.frames[place]) ? 1 : 0;
    }
    // A caller's id is lower than its callees': one pass carries what was found on the way.
    std::vector<std::uint32_t> found(stacks.size() + 1, 0);
    std::vector<char> underOp(stacks.size() + 1, 0);
    std::vector<char> mask(stacks.size() + 1, 0);
    mask[0] = filter.op.empty() && filter.kernel.empty() && filter.frames.empty() ? 1 : 0;
    for (std::uint32_t i = 1; i <= stacks.size(); ++i) {
        const StackId id{i};
        const std::uint32_t parent = stacks.parent(id).value;
        const std::uint32_t frame = stacks.frame(id).value;
        found[i] = found[parent];
        if (found[i] < fit.size() && fit[found[i]][frame] != 0)
            ++found[i];
        underOp[i] = std::max(underOp[parent], op[frame]);
        mask[i] = found[i] == fit.size() && (filter.op.empty() || underOp[i] != 0) &&
                          (filter.kernel.empty() || kernel[frame] != 0)
                      ? 1
                      : 0;
    }
    return mask;
}

} // namespace warpline
