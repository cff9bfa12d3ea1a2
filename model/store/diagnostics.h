// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace warpline {

/// What an import repaired, dropped or found odd. One row a kind of thing, with how often and where first.
struct Diagnostic {
    enum class Severity { Info, Warning, DataLoss };
    static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

    std::string id; ///< stable, like "launch_without_kernel"
    Severity severity = Severity::Info;
    std::uint64_t count = 0;
    std::string message;                   ///< one sentence for the user, with the count in it
    std::uint64_t firstOffset = kNoOffset; ///< byte of the (uncompressed) file
    std::int64_t firstTime = INT64_MIN;    ///< where in time the first one is, if it has a time
};

[[nodiscard]] const char* severityName(Diagnostic::Severity s);

class Diagnostics {
  public:
    /// Sets the row of this id, replacing what was there.
    void set(Diagnostic d);
    [[nodiscard]] const std::vector<Diagnostic>& rows() const { return m_rows; }
    [[nodiscard]] const Diagnostic* find(std::string_view id) const;
    /// True where something of the file could not be kept.
    [[nodiscard]] bool hasLoss() const;

  private:
    std::vector<Diagnostic> m_rows;
};

} // namespace warpline
