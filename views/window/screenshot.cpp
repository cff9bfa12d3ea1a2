// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/screenshot.h"

#include "views/tables/ops_panel.h"
#include "views/text.h"
#include "views/timeline/timeline_panel.h"
#include "views/window/main_window.h"
#include "views/window/pages.h"
#include "views/window/session_keeper.h"
#include "views/window/top_bar.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QPixmap>
#include <QTextStream>
#include <QThread>

#include <string_view>
#include <vector>

namespace warpline {
namespace {

/// Until nothing is computed any more and nothing waits to be drawn.
void settle(const MainWindow& window) {
    int quiet = 0;
    while (quiet < 3) {
        QCoreApplication::processEvents(QEventLoop::AllEvents);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        quiet = window.busy() ? 0 : quiet + 1;
        QThread::msleep(window.busy() ? 2 : 10);
    }
}

/// What was opened may have chosen a layout of its own.
void showView(Workbench& workbench, Options::View view) {
    workbench.applyLayout(workbench.layoutChoice());
    workbench.raisePanel(view == Options::View::Kernels                          ? Workbench::Panel::Kernels
                         : view == Options::View::Flame                          ? Workbench::Panel::Flame
                         : workbench.layoutChoice() == Workbench::Layout::Memory ? Workbench::Panel::Memory
                                                                                 : Workbench::Panel::Ops);
}

void complain(const QString& sentence) {
    QTextStream(stderr) << "warpline: " << sentence << '\n';
}

} // namespace

bool selectByName(Document& document, const QString& name) {
    const std::string wanted = name.toStdString();
    SliceRef exact;
    SliceRef holds;
    TimeNs exactLength = -1;
    TimeNs holdsLength = -1;
    for (std::size_t i = 0; i < document.items().size(); ++i) {
        const Trace& trace = *document.items()[i].trace;
        // Names are few beside slices: each is compared once.
        std::vector<signed char> match(trace.strings.size() + 1, -1);
        for (std::size_t row = 0; row < trace.slices.size(); ++row) {
            const StringId id = trace.slices.name[row];
            signed char& m = match[id.value];
            if (m < 0) {
                const std::string_view text = trace.strings.view(id);
                m = text == wanted ? 2 : text.find(wanted) != std::string_view::npos ? 1 : 0;
            }
            const TimeNs length = trace.slices.duration[row];
            if (m == 2 && length > exactLength) {
                exact = {static_cast<int>(i), SliceId::fromIndex(row)};
                exactLength = length;
            } else if (m == 1 && length > holdsLength) {
                holds = {static_cast<int>(i), SliceId::fromIndex(row)};
                holdsLength = length;
            }
        }
    }
    const SliceRef found = exact ? exact : holds;
    if (found)
        document.reveal(found);
    return static_cast<bool>(found);
}

int takeScreenshot(MainWindow& window, const Options& options) {
    int status = 0;
    window.resize(options.size);
    window.workbench()->timeline()->setAnimated(false);
    window.setAsking(false);
    const Workbench::Layout layout = options.view == Options::View::Timeline ? Workbench::Layout::Timeline
                                     : options.view == Options::View::Memory ? Workbench::Layout::Memory
                                     : options.view == Options::View::Flame  ? Workbench::Layout::Flame
                                                                             : Workbench::Layout::Ops;
    window.workbench()->applyLayout(layout);
    window.show();
    if (!options.files.isEmpty())
        window.open(options.files);
    settle(window);
    Document& document = *window.document();
    if (!options.files.isEmpty() && document.empty()) {
        complain(window.failurePage()->text().section(u'\n', 1));
        status = 1;
    }
    if (!document.empty()) {
        if (options.viewGiven || window.sessionKeeper()->path().isEmpty())
            showView(*window.workbench(), options.view);
        if (!options.select.isEmpty() && !selectByName(document, options.select)) {
            complain(MainWindow::tr("No event is called \"%1\".").arg(options.select));
            status = 1;
        }
        if (options.range) {
            const TimeRange range = options.range->in(document.extent());
            if (range.empty()) {
                complain(MainWindow::tr("The range is empty there; the session lasts %1.")
                             .arg(durationText(document.extent().duration())));
                status = 1;
            } else {
                document.setRange(range, durationText(range.duration()));
                if (options.select.isEmpty())
                    document.setVisible(range);
            }
        }
        if (!options.search.isEmpty()) {
            window.workbench()->raisePanel(Workbench::Panel::Search);
            window.topBar()->searchField()->setText(options.search);
        }
        settle(window);
    }
    const QImage picture = window.grab().toImage();
    if (!picture.save(options.screenshot)) {
        complain(MainWindow::tr(
                     "The picture %1 could not be written: is the folder there, and does the name end in "
                     ".png?")
                     .arg(options.screenshot));
        return 1;
    }
    return status;
}

} // namespace warpline
