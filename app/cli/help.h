// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace warpline::cli {

/// Writes --help: options with what they take, in 80 columns, descriptions wrapped between words.
class HelpFormatter : public CLI::Formatter {
  public:
    HelpFormatter();
    std::string make_option(const CLI::Option* option, bool positional) const override;
    std::string make_subcommand(const CLI::App* command) const override;
    std::string make_footer(const CLI::App* command) const override;
};

} // namespace warpline::cli
