// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "app/cli/help.h"

#include <sstream>

namespace warpline::cli {

namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kIndent = 20;

/// A term in the left column, its description wrapped in the right one.
std::string entry(const std::string& term, const std::string& description) {
    std::string out = "  " + term;
    std::size_t column = out.size();
    if (column + 2 > kIndent) {
        out += "\n";
        column = 0;
    }
    std::istringstream words(description);
    std::string word;
    bool first = true;
    while (words >> word) {
        if (!first && column + 1 + word.size() > kColumns) {
            out += "\n";
            column = 0;
            first = true;
        }
        if (first) {
            out.append(kIndent - column, ' ');
            column = kIndent;
        } else {
            out += " ";
            ++column;
        }
        out += word;
        column += word.size();
        first = false;
    }
    return out + "\n";
}

} // namespace

HelpFormatter::HelpFormatter() {
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool positional) const {
    std::string term = positional ? option->get_name(true) : option->get_name(false, true);
    if (!positional && option->get_type_size() != 0)
        term += " " + option->get_type_name().substr(0, option->get_type_name().find(':'));
    return entry(term, option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
    return entry(command->get_name(), command->get_description());
}

std::string HelpFormatter::make_footer(const CLI::App* command) const {
    const std::string footer = command->get_footer();
    return footer.empty() ? std::string() : footer + "\n";
}

} // namespace warpline::cli
