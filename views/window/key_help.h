// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/window/command_palette.h"

#include <QDialog>

namespace warpline {

/// All keys and what the mouse does, in groups.
class KeyHelp : public QDialog {
    Q_OBJECT

  public:
    KeyHelp(const std::vector<Command>& commands, QWidget* parent);
    static QString html(const std::vector<Command>& commands);
};

} // namespace warpline
