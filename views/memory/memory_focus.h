// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/memory/memory_item.h"

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

namespace warpline {

/// What the memory views look at together: which allocator, which stretch of its history, which moment, which
/// block, which two marks. Lives in the GUI thread.
class MemoryFocus : public QObject {
    Q_OBJECT

  public:
    /// One device of one history of the document.
    struct Place {
        std::size_t item = 0;   ///< index into Document::memories()
        std::size_t device = 0; ///< index into MemoryItem::devices
        QString name;           ///< "GPU 0", with the file where there are several
    };
    enum class Colour { Category, Line, Stream, Pool, Size };

    explicit MemoryFocus(Document* document, QObject* parent = nullptr);

    [[nodiscard]] Document& document() const { return *m_document; }
    [[nodiscard]] const std::vector<Place>& places() const { return m_places; }
    [[nodiscard]] int place() const { return m_place; }
    void setPlace(int place);
    /// False: the session has no allocator's history at all, and what follows must not be called.
    [[nodiscard]] bool hasMemory() const { return m_place >= 0; }
    [[nodiscard]] const MemoryItem& item() const;
    [[nodiscard]] const MemoryDeviceItem& deviceItem() const;
    [[nodiscard]] const MemoryDevice& device() const;

    /// The visible stretch of the axis.
    [[nodiscard]] const MemoryView& view() const { return m_view; }
    [[nodiscard]] MemoryView whole() const;
    /// Kept within the history, at least a few events (or nanoseconds) wide.
    void setView(std::int64_t begin, std::int64_t end);
    /// Events or time; what was visible stays visible.
    void setAxis(MemoryAxis axis);

    /// The moment that holders, blocks and segments are told for: the peak until another is chosen.
    [[nodiscard]] Moment moment() const { return m_moment; }
    void setMoment(Moment moment);
    /// Also brings it into view where it is not.
    void showMoment(Moment moment);
    /// "the peak", "event 1,981", "the end".
    [[nodiscard]] QString momentName() const;
    [[nodiscard]] std::int64_t bytesAtMoment() const;
    /// To the next (+1) or previous (-1) local peak of the requested bytes; false if there is none.
    bool stepPeak(int direction);

    /// The document's block where it is one of this allocator's.
    [[nodiscard]] BlockId selected() const;
    void select(BlockId block);
    /// A block as the document names it.
    [[nodiscard]] BlockRef refOf(BlockId block) const;

    struct Marks {
        std::optional<Moment> first, second;
        [[nodiscard]] bool both() const { return first && second; }
    };
    [[nodiscard]] const Marks& marks() const { return m_marks; }
    /// Sets the first, then the second mark; a third press begins anew.
    void toggleMark(Moment moment);
    void setMarks(Moment first, Moment second);
    void clearMarks();

    [[nodiscard]] Colour colour() const { return m_colour; }
    void setColour(Colour colour);

  signals:
    void placesChanged();
    void placeChanged(); ///< another allocator: everything below has changed too
    void viewChanged();
    void momentChanged();
    void selectionChanged();
    void marksChanged();
    void colourChanged();

  private:
    void takeSession();
    void takePlace();
    void takeBlock();

    Document* m_document;
    std::vector<Place> m_places;
    int m_place = -1;
    MemoryView m_view;
    Moment m_moment = 0;
    Marks m_marks;
    Colour m_colour = Colour::Category;
    bool m_selecting = false; ///< the document's block is being set from here
};

} // namespace warpline
