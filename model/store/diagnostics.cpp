// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/diagnostics.h"

#include <algorithm>
#include <utility>

namespace warpline {

const char* severityName(Diagnostic::Severity s) {
    switch (s) {
    case Diagnostic::Severity::Info:
        return "info";
    case Diagnostic::Severity::Warning:
        return "warning";
    case Diagnostic::Severity::DataLoss:
        return "data loss";
    }
    return "info";
}

void Diagnostics::set(Diagnostic d) {
    for (Diagnostic& row : m_rows) {
        if (row.id == d.id) {
            row = std::move(d);
            return;
        }
    }
    m_rows.push_back(std::move(d));
}

const Diagnostic* Diagnostics::find(std::string_view id) const {
    const auto it =
        std::find_if(m_rows.begin(), m_rows.end(), [&](const Diagnostic& d) { return d.id == id; });
    return it == m_rows.end() ? nullptr : &*it;
}

bool Diagnostics::hasLoss() const {
    return std::any_of(m_rows.begin(), m_rows.end(),
                       [](const Diagnostic& d) { return d.severity == Diagnostic::Severity::DataLoss; });
}

} // namespace warpline
