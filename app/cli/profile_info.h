// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/json_writer.h"
#include "model/store/profile.h"

#include <cstddef>
#include <string>

namespace warpline::cli {

/// What one profile holds, written in the three ways of info.
class ProfileInfo {
  public:
    explicit ProfileInfo(const Profile& profile) : m_profile(profile) {}

    void writeJson(JsonWriter& json, std::size_t limit) const;
    [[nodiscard]] std::string text(std::size_t limit, std::size_t width) const;
    [[nodiscard]] std::string csv() const;

  private:
    const Profile& m_profile;
};

} // namespace warpline::cli
