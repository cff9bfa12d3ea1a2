// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QString>

class QTextBrowser;
class QWidget;

/// What the panels that tell of one selected thing have in common: a read-only text with links, and its parts
/// as rich text in the theme's colours.
namespace warpline::details {

/// A browser that opens no link by itself; `owner` is its parent.
QTextBrowser* makeBrowser(QWidget* owner, const QString& objectName, const QString& accessibleName);

QString heading(const QString& text);
/// A row of table(): a name and what stands at its right, which is rich text already.
QString entry(const QString& name, const QString& html);
QString table(const QString& rows);
QString link(const QString& target, const QString& text);
/// An aside in the muted colour.
QString remark(const QString& text);

} // namespace warpline::details
