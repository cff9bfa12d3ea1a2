// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "views/window/options.h"

namespace warpline {

class Document;
class MainWindow;

/// Opens what the options name, brings the window into the state they ask for, and writes its picture. Gives
/// the exit status: 0 done, 1 not done (the sentence went to stderr; of a file that cannot be opened there is
/// a picture all the same, of the page that says so).
int takeScreenshot(MainWindow& window, const Options& options);

/// Selects the longest event of that name, or, where there is none, the longest whose name holds it. False if
/// nothing does.
bool selectByName(Document& document, const QString& name);

} // namespace warpline
