// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/tables/details_text.h"

#include "views/tables/tabular_text.h"
#include "views/theme.h"

#include <QTextBrowser>

namespace warpline::details {

QTextBrowser* makeBrowser(QWidget* owner, const QString& objectName, const QString& accessibleName) {
    auto* browser = new QTextBrowser(owner);
    browser->setObjectName(objectName);
    browser->setAccessibleName(accessibleName);
    browser->setOpenLinks(false);
    browser->setFrameShape(QFrame::NoFrame);
    browser->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    browser->setFont(tableFont());
    browser->document()->setDocumentMargin(10);
    return browser;
}

QString heading(const QString& text) {
    return QStringLiteral("<div style=\"font-weight:600; margin-top:6px; margin-bottom:2px\">%1</div>")
        .arg(text.toHtmlEscaped());
}

QString entry(const QString& name, const QString& html) {
    return QStringLiteral("<tr><td style=\"color:%1\">%2</td><td align=\"right\">%3</td></tr>")
        .arg(Theme::current().mute.name(), name.toHtmlEscaped(), html);
}

QString table(const QString& rows) {
    return QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"2\">%1</table>").arg(rows);
}

QString link(const QString& target, const QString& text) {
    return QStringLiteral("<a style=\"color:%1; text-decoration:none\" href=\"%2\">%3</a>")
        .arg(Theme::current().accent.name(), target, text.toHtmlEscaped());
}

QString remark(const QString& text) {
    return QStringLiteral("<div style=\"margin-top:4px; color:%1\">%2</div>")
        .arg(Theme::current().mute.name(), text.toHtmlEscaped());
}

} // namespace warpline::details
