// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/analysis/families.h"
#include "model/analysis/ops.h"
#include "model/import/import.h"
#include "model/query/spans.h"
#include "model/store/profile.h"
#include "model/store/session.h"
#include "views/selection.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <vector>

namespace warpline {

class LazyStacks;
struct MemoryItem;
struct SourceSeries;

/// What one window shows: a session with the indexes the views read, the one selection that all views share,
/// and the visible range of time. Times are the session's (a source's own times plus its shift). Lives in the
/// GUI thread; what it hands out is immutable and may be read in jobs.
class Document : public QObject {
    Q_OBJECT

  public:
    /// A source with everything the views ask of it. Built off the GUI thread.
    struct Item {
        TracePtr trace;
        TimeNs shift = 0;
        std::shared_ptr<const SpanIndex> spans;
        OpTreePtr ops;
        std::shared_ptr<const FamilyIndex> families;
        std::shared_ptr<const SourceSeries> series;
        std::shared_ptr<LazyStacks> stacks; ///< built when a view asks for them
    };
    /// A session made ready for the views; the heavy part of opening, for a worker thread.
    struct Prepared {
        SessionPtr session;
        std::vector<Item> items;
        std::vector<MemoryItem> memories;
        std::vector<ProfilePtr> profiles;
        Prepared();
        Prepared(const Prepared&);
        Prepared(Prepared&&) noexcept;
        Prepared& operator=(const Prepared&);
        Prepared& operator=(Prepared&&) noexcept;
        ~Prepared();
    };
    static Prepared prepare(Opened opened);

    explicit Document(QObject* parent = nullptr);
    ~Document() override;

    void set(Prepared prepared);
    /// The same recording with more in it: what is visible and the selected range stay, and sessionChanged()
    /// comes while growing() is true. What names a slice (selection, hits) is dropped, since slices are
    /// numbered anew.
    void grow(Prepared prepared);
    [[nodiscard]] bool growing() const { return m_growing; }
    void clear();
    /// Nothing is open, neither traces nor memory histories nor profiles.
    [[nodiscard]] bool empty() const { return m_items.empty() && m_memories.empty() && m_profiles.empty(); }
    /// Traces; a session of snapshots alone has none.
    [[nodiscard]] const std::vector<Item>& items() const { return m_items; }
    /// Snapshots, then what the traces' own allocator records tell.
    [[nodiscard]] const std::vector<MemoryItem>& memories() const { return m_memories; }
    /// Stacks and weights of other programs, without times.
    [[nodiscard]] const std::vector<ProfilePtr>& profiles() const { return m_profiles; }
    [[nodiscard]] const SessionPtr& session() const { return m_session; }
    /// First start to last end of all sources; never empty while there is a source.
    [[nodiscard]] TimeRange extent() const { return m_extent; }

    [[nodiscard]] TimeRange visible() const { return m_visible; }
    /// Clamped to the extent (with a margin of a twentieth) and to a nanosecond's width at least.
    void setVisible(TimeRange range);

    /// All that is selected; what follows are parts of it.
    [[nodiscard]] const Selection& selection() const { return m_selection; }
    /// Changes the selection as a whole: one step of the history, made in `next.view`.
    void setSelection(Selection next);

    [[nodiscard]] SliceRef selected() const { return m_selection.slice; }
    void select(SliceRef slice, ViewKind from = ViewKind::Timeline);
    /// Selects and asks the timeline to bring the slice into view.
    void reveal(SliceRef slice);

    [[nodiscard]] std::optional<TimeRange> range() const { return m_selection.range; }
    /// The selected stretch of time, named for its chip ("ProfilerStep#5", "2.1 ms"); none = everything. One
    /// that is a step's is known as that step.
    void setRange(std::optional<TimeRange> range, const QString& name = {},
                  ViewKind from = ViewKind::Timeline);
    [[nodiscard]] QString rangeName() const { return m_selection.rangeName; }

    /// What narrows the other views; nothing where empty.
    void selectOp(const QString& name, ViewKind from = ViewKind::Ops);
    void selectKernel(const QString& name, ViewKind from = ViewKind::Kernels);
    void selectFrame(const FrameRef& frame, ViewKind from = ViewKind::Flame);
    void selectTracks(std::vector<TrackRef> tracks, ViewKind from = ViewKind::Timeline);
    void selectBlock(const BlockRef& block, ViewKind from = ViewKind::Memory);

    /// Through what was selected before, each selection a step, and to the view that it was made in. False at
    /// the end.
    bool back();
    bool forward();

    /// Slices that the search found, in order of time; marked in the timeline.
    [[nodiscard]] const std::vector<SliceRef>& hits() const { return m_hits; }
    void setHits(std::vector<SliceRef> hits);

    [[nodiscard]] QString sliceName(SliceRef ref) const;
    [[nodiscard]] TimeRange sliceRange(SliceRef ref) const; ///< session time

  signals:
    void sessionChanged();
    void visibleChanged();
    void selectionChanged(); ///< another slice
    void rangeChanged();
    void filterChanged(); ///< another op, kernel, frame or set of tracks
    void blockChanged();
    /// Back or forward to what was selected there.
    void viewRequested(warpline::ViewKind view);
    void hitsChanged();
    void revealRequested(warpline::SliceRef slice);

  private:
    void take(Prepared prepared);
    void remember(const Selection& before);
    [[nodiscard]] std::optional<std::int64_t> stepOf(TimeRange range) const;
    void go(std::size_t step);

    SessionPtr m_session;
    std::vector<Item> m_items;
    std::vector<MemoryItem> m_memories;
    std::vector<ProfilePtr> m_profiles;
    TimeRange m_extent;
    TimeRange m_traceExtent; ///< without what snapshots add
    TimeRange m_visible;
    Selection m_selection;
    std::vector<SliceRef> m_hits;
    bool m_growing = false;
    std::vector<Selection> m_history; ///< oldest first
    std::size_t m_at = 0;             ///< the one that holds now
    bool m_going = false;             ///< back() or forward() is at work
};

} // namespace warpline
