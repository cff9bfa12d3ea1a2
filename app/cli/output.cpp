// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/output.h"

#include "app/cli/text.h"
#include "model/export/output_file.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace warpline::cli {

Result<Done> print(std::string_view text) {
    OutputFile out;
    if (auto done = out.open("-"); !done.ok())
        return done;
    if (auto done = out.write(text); !done.ok())
        return done;
    return out.commit();
}

void printError(std::string_view message) {
    const std::string line = fmt::format("warpline-cli: {}\n", printable(message));
    // Nobody is left to be told where this fails.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::size_t outputWidth() {
    constexpr std::size_t kLogWidth = 160;
    winsize size{};
    if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return kLogWidth;
    return size.ws_col;
}

} // namespace warpline::cli
