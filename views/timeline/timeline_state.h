// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/jobs.h"
#include "views/timeline/geometry.h"
#include "views/timeline/track_layout.h"

#include <QObject>
#include <QString>
#include <QTimer>
#include <QVariantAnimation>

#include <map>
#include <optional>
#include <vector>

namespace warpline {

/// A step as a band across all lanes.
struct StepBand {
    TimeRange range; ///< session time
    std::int64_t number = 0;
    SliceRef slice;
};

/// A moment that the user marked.
struct TimeMark {
    TimeNs time = 0;
    QString note; ///< may be empty
    bool operator==(const TimeMark&) const = default;
};

/// What the parts of the timeline share beside the document: rows, marks, where the pointer is, how busy the
/// GPUs are in view, and the movement from one visible range to another.
class TimelineState : public QObject {
    Q_OBJECT

  public:
    explicit TimelineState(Document* document, QObject* parent = nullptr);

    [[nodiscard]] Document& document() const { return *m_document; }
    [[nodiscard]] const TrackLayout& layout() const { return m_layout; }
    /// Changes rows through `change` and tells everyone where something came of it.
    template <class F>
    void changeLayout(F&& change) {
        const std::uint64_t before = m_layout.revision();
        change(m_layout);
        if (m_layout.revision() != before)
            emit layoutChanged();
    }

    /// Rises with every session: part of what cached geometry depends on.
    [[nodiscard]] std::uint64_t session() const { return m_sessionNumber; }
    [[nodiscard]] const std::vector<StepBand>& steps() const { return m_steps; }
    /// What is marked in the lanes: what the search found, or else the events that the selection names.
    [[nodiscard]] const MarkedSlices& hits() const { return m_hits; }

    /// From where the ruler counts, and what is there: "ProfilerStep#5", "start".
    [[nodiscard]] TimeNs origin() const;
    [[nodiscard]] QString originName() const;

    /// Where the visible range is going; the visible range itself when nothing moves.
    [[nodiscard]] TimeRange target() const;
    /// Changes the visible range, moving there where the desktop wants motion.
    void moveTo(TimeRange range);
    /// Changes it at once.
    void jumpTo(TimeRange range);
    /// No motion at all; for tests and pictures.
    void setAnimated(bool animated) { m_animated = animated; }

    /// In order of time.
    [[nodiscard]] const std::vector<TimeMark>& marks() const { return m_marks; }
    void setMarks(std::vector<TimeMark> marks);
    /// Sets a mark, or takes away one that is within `slack`.
    void toggleMark(TimeNs time, TimeNs slack);
    /// The mark nearest to a time, within `slack`; null if there is none.
    [[nodiscard]] const TimeMark* markAt(TimeNs time, TimeNs slack) const;
    /// Writes a note to the mark at exactly this time, which is set if it is new.
    void setNote(TimeNs time, const QString& note);
    void clearMarks();

    /// The time under the pointer, wherever in the timeline it is.
    [[nodiscard]] std::optional<TimeNs> pointer() const { return m_pointer; }
    void setPointer(std::optional<TimeNs> time);

    /// How much of the visible range a stream or a device works, 0 to 1; none while not known.
    [[nodiscard]] std::optional<double> busyShare(const RowId& row) const;

  signals:
    void layoutChanged();
    void marksChanged();
    void pointerChanged();
    void busyChanged();
    void hitsChanged();

  private:
    void takeSession();
    void startBusy();
    void takeHits();

    Document* m_document;
    TrackLayout m_layout;
    MarkedSlices m_hits;
    std::vector<StepBand> m_steps;
    std::vector<TimeMark> m_marks;
    std::optional<TimeNs> m_pointer;
    std::uint64_t m_sessionNumber = 0;
    QVariantAnimation m_motion;
    TimeRange m_motionFrom;
    TimeRange m_motionTo;
    bool m_animated = true;
    bool m_moving = false; ///< the change of the visible range is the motion's own
    QTimer m_busyDelay;
    LatestJob m_busyJob{this};
    LatestJob m_namedJob{this};
    std::map<RowId, double> m_busy;
};

} // namespace warpline
