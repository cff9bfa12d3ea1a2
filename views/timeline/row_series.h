// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/store/trace.h"
#include "views/timeline/step_series.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <vector>

namespace warpline {

/// A line of a row that holds values over time.
struct RowSeries {
    enum class Role { Value, Allocated, Reserved };
    Role role = Role::Value;
    QString name;
    StepSeries values; ///< at the source's own times
};

/// The counters and allocators of one source as lines to draw. There may be millions of samples, so they are
/// made where the source is prepared, off the GUI thread.
struct SourceSeries {
    struct Counter {
        std::uint32_t process = 0; ///< index into Trace::processes
        std::uint32_t index = 0;   ///< its first series in Trace::counters
        QString name;
        std::vector<RowSeries> series;
    };
    struct Allocator {
        int device = -1;           ///< ordinal; -1 = host memory
        std::uint32_t process = 0; ///< the one that asked first
        std::vector<RowSeries> series;
    };
    std::vector<Counter> counters;     ///< in the order of the trace
    std::vector<Allocator> allocators; ///< by device

    static std::shared_ptr<const SourceSeries> of(TracePtr trace);

  private:
    TracePtr m_trace; ///< whose samples the counters' lines read where they lie
};

} // namespace warpline
