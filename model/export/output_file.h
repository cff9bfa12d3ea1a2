// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/result.h"

#include <string>
#include <string_view>

namespace warpline {

/// A file that appears under its name only once it is whole: it is written beside its place under a name of
/// its own and renamed by commit(). Without commit() nothing stays behind and a file of that name is left as
/// it was. "-" is the standard output; what is there and is no regular file (a device, a pipe) is written to
/// directly.
class OutputFile {
  public:
    OutputFile() = default;
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    Result<Done> open(const std::string& path);
    Result<Done> write(std::string_view bytes);
    Result<Done> commit();

  private:
    [[nodiscard]] Error failure(const char* what, int code) const;

    std::string m_path;      ///< as the user wrote it, for messages
    std::string m_target;    ///< where the file goes: m_path with links followed
    std::string m_temporary; ///< empty where the target is written directly
    int m_file = -1;
};

} // namespace warpline
