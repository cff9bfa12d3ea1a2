// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/document.h"
#include "views/jobs.h"

#include <QObject>
#include <QString>

namespace warpline {

class MemoryFocus;

/// From what is selected to what belongs to it in another view: its longest kernel, the Python line that it
/// comes from, the largest block that was allocated in it. What is meant is the event where one was selected
/// in the timeline last, else whatever narrows the views, in the selected range.
class Jumps : public QObject {
    Q_OBJECT

  public:
    Jumps(Document* document, MemoryFocus* memory, QObject* parent = nullptr);

    void toKernel();
    void toLine();
    void toBlock();

  signals:
    void arrived(warpline::ViewKind view);
    /// Why there is nothing to go to.
    void failed(const QString& sentence);

  private:
    /// The event that is meant; none where it is what narrows the views.
    [[nodiscard]] SliceRef subject() const;
    void showBlock(BlockId block, bool frameOnly);

    Document* m_document;
    MemoryFocus* m_memory;
    LatestJob m_job{this};
};

} // namespace warpline
