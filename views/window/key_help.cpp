// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/key_help.h"

#include "views/theme.h"

#include <QDialogButtonBox>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace warpline {
namespace {

using Lines = QList<std::pair<QString, QString>>; ///< what is pressed, what it does

QString block(const QString& title, const Lines& lines) {
    QString out = QStringLiteral("<h3>%1</h3><table cellpadding=\"2\">").arg(title.toHtmlEscaped());
    for (const auto& [keys, text] : lines) {
        out += QStringLiteral("<tr><td style=\"color:%1; padding-right:14px\">%2</td><td>%3</td></tr>")
                   .arg(Theme::current().accent.name(), keys.toHtmlEscaped(), text.toHtmlEscaped());
    }
    return out + QStringLiteral("</table>");
}

} // namespace

QString KeyHelp::html(const std::vector<Command>& commands) {
    QStringList order;
    QHash<QString, Lines> groups;
    for (const Command& command : commands) {
        if (command.keys().isEmpty())
            continue;
        if (!groups.contains(command.group))
            order.append(command.group);
        groups[command.group].append({command.keys(), command.title()});
    }
    const Lines mouse{{tr("Drag"), tr("select a range")},
                      {tr("Click"), tr("select an event")},
                      {tr("Double click"), tr("fit the event; on a table's row: go to its longest event")},
                      {tr("Wheel"), tr("scroll the tracks")},
                      {tr("Ctrl+Wheel, pinch"), tr("zoom at the pointer")},
                      {tr("Shift+Wheel, middle drag"), tr("pan")}};
    const Lines fields{{tr("Enter, Shift+Enter"), tr("in the search: next and previous hit")},
                       {tr("Enter"), tr("in a table: go to the longest event of the row")},
                       {tr("Ctrl+C"), tr("in a table: copy the rows")},
                       {tr("Menu, Shift+F10"), tr("in a table: sort, choose columns")}};
    // Two columns of about equal height.
    QString left;
    QString right;
    qsizetype leftLines = 0;
    qsizetype rightLines = mouse.size() + fields.size() + 4;
    right += block(tr("Mouse, in the timeline"), mouse) + block(tr("Fields and tables"), fields);
    for (const QString& group : order) {
        QString& side = leftLines <= rightLines ? left : right;
        (leftLines <= rightLines ? leftLines : rightLines) += groups[group].size() + 2;
        side += block(group, groups[group]);
    }
    return QStringLiteral(
               "<table width=\"100%\"><tr><td width=\"50%\">%1</td><td width=\"50%\">%2</td></tr></table>")
        .arg(left, right);
}

KeyHelp::KeyHelp(const std::vector<Command>& commands, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("All keys"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* browser = new QTextBrowser(this);
    browser->setFrameShape(QFrame::NoFrame);
    browser->setAccessibleName(tr("All keys"));
    browser->setHtml(html(commands));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(browser);
    layout->addWidget(buttons);
    resize(860, 640);
}

} // namespace warpline
