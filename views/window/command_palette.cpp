// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/command_palette.h"

#include "views/theme.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace warpline {
namespace {

/// The title at the left, its group after it, the keys at the right.
class CommandDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        painter->save();
        painter->fillRect(option.rect,
                          option.state.testFlag(QStyle::State_Selected) ? theme.chip : theme.background);
        const QRect text = option.rect.adjusted(12, 0, -12, 0);
        const bool enabled = index.flags().testFlag(Qt::ItemIsEnabled);
        painter->setFont(option.font);
        painter->setPen(enabled ? theme.text : theme.mute);
        const QString title = index.data().toString();
        painter->drawText(text, Qt::AlignLeft | Qt::AlignVCenter, title);
        painter->setPen(theme.mute);
        painter->drawText(text.adjusted(option.fontMetrics.horizontalAdvance(title) + 12, 0, 0, 0),
                          Qt::AlignLeft | Qt::AlignVCenter, index.data(CommandModel::GroupRole).toString());
        painter->drawText(text, Qt::AlignRight | Qt::AlignVCenter,
                          index.data(CommandModel::KeysRole).toString());
        painter->restore();
    }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
        return {200, option.fontMetrics.height() + 12};
    }
};

} // namespace

QString Command::title() const {
    QString text = action ? action->text() : QString();
    text.remove(QRegularExpression(QStringLiteral("&(?!&)")));
    while (text.endsWith(u'…'))
        text.chop(1);
    return text;
}

QString Command::keys() const {
    QStringList keys;
    if (action) {
        for (const QKeySequence& key : action->shortcuts())
            keys.append(key.toString(QKeySequence::NativeText));
    }
    return keys.join(QStringLiteral(", "));
}

CommandModel::CommandModel(std::vector<Command> commands, QObject* parent)
    : QAbstractListModel(parent), m_commands(std::move(commands)) {
    setFilter({});
}

int CommandModel::score(const QString& text, const QString& title) {
    if (text.isEmpty())
        return 0;
    const qsizetype whole = title.indexOf(text, 0, Qt::CaseInsensitive);
    if (whole == 0)
        return 1000;
    if (whole > 0)
        return title[whole - 1].isLetterOrNumber() ? 500 : 800;
    // The letters in order; those that begin a word count more.
    int points = 0;
    qsizetype at = 0;
    for (const QChar letter : text) {
        if (letter.isSpace())
            continue;
        const qsizetype found = title.indexOf(letter, at, Qt::CaseInsensitive);
        if (found < 0)
            return -1;
        points += found == 0 || !title[found - 1].isLetterOrNumber() ? 10 : 1;
        at = found + 1;
    }
    return points;
}

void CommandModel::setFilter(const QString& text) {
    beginResetModel();
    m_shown.clear();
    std::vector<int> scores(m_commands.size());
    for (std::size_t i = 0; i < m_commands.size(); ++i) {
        scores[i] = std::max(score(text, m_commands[i].title()),
                             score(text, m_commands[i].group + QChar(u' ') + m_commands[i].title()) - 1);
        if (m_commands[i].action && scores[i] >= (text.isEmpty() ? -1 : 0))
            m_shown.push_back(i);
    }
    std::stable_sort(m_shown.begin(), m_shown.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    endResetModel();
}

QAction* CommandModel::action(int row) const {
    return row >= 0 && row < rowCount() ? m_commands[m_shown[static_cast<std::size_t>(row)]].action.data()
                                        : nullptr;
}

int CommandModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

QVariant CommandModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Command& command = m_commands[m_shown[static_cast<std::size_t>(index.row())]];
    switch (role) {
    case Qt::DisplayRole:
        return command.title();
    case KeysRole:
        return command.keys();
    case GroupRole:
        return command.group;
    case Qt::AccessibleTextRole:
        return QString(command.title() + QStringLiteral(", ") + command.keys());
    default:
        return {};
    }
}

Qt::ItemFlags CommandModel::flags(const QModelIndex& index) const {
    if (!index.isValid())
        return Qt::NoItemFlags;
    const QAction* found = action(index.row());
    return found != nullptr && found->isEnabled()
               ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren
               : Qt::ItemNeverHasChildren;
}

CommandPalette::CommandPalette(std::vector<Command> commands, QWidget* parent) : QDialog(parent, Qt::Popup) {
    setObjectName(QStringLiteral("commandPalette"));
    setWindowTitle(tr("Commands"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_field = new QLineEdit(this);
    m_field->setPlaceholderText(tr("What do you want to do?"));
    m_field->setAccessibleName(tr("Find a command"));
    m_field->setFixedHeight(32);
    m_model = new CommandModel(std::move(commands), this);
    m_list = new QListView(this);
    m_list->setModel(m_model);
    m_list->setItemDelegate(new CommandDelegate(m_list));
    m_list->setUniformItemSizes(true);
    m_list->setAccessibleName(tr("Commands"));
    m_list->setFocusPolicy(Qt::NoFocus);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->addWidget(m_field);
    layout->addWidget(m_list);
    m_field->installEventFilter(this);
    connect(m_field, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_model->setFilter(text.trimmed());
        m_list->setCurrentIndex(m_model->index(0));
    });
    connect(m_list, &QListView::clicked, this, [this](const QModelIndex& index) { run(index.row()); });
    m_list->setCurrentIndex(m_model->index(0));
    resize(560, 400);
    const QWidget* window = parent->window();
    move(window->mapToGlobal(QPoint((window->width() - width()) / 2, 60)));
    m_field->setFocus();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_field || event->type() != QEvent::KeyPress)
        return QDialog::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const int row = m_list->currentIndex().row();
    const auto go = [&](int to) {
        m_list->setCurrentIndex(m_model->index(std::clamp(to, 0, std::max(0, m_model->rowCount() - 1))));
        return true;
    };
    switch (key->key()) {
    case Qt::Key_Down:
        return go(row + 1);
    case Qt::Key_Up:
        return go(row - 1);
    case Qt::Key_PageDown:
        return go(row + 10);
    case Qt::Key_PageUp:
        return go(row - 10);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        run(row);
        return true;
    default:
        return QDialog::eventFilter(watched, event);
    }
}

void CommandPalette::run(int row) {
    const QPointer<QAction> action = m_model->action(row);
    if (action.isNull() || !action->isEnabled())
        return;
    close();
    // After the popup has gone, so that dialogs and focus go where they should.
    QTimer::singleShot(0, action, &QAction::trigger);
}

} // namespace warpline
