// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <QAbstractListModel>
#include <QAction>
#include <QDialog>
#include <QPointer>

#include <vector>

class QLineEdit;
class QListView;

namespace warpline {

/// Something that can be done, and where it is found.
struct Command {
    QPointer<QAction> action;
    QString group; ///< "File", "Timeline"

    [[nodiscard]] QString title() const; ///< without mnemonics and dots
    [[nodiscard]] QString keys() const;  ///< "F3", or empty
};

/// The commands that a text finds, best first: its letters in order, whole words and beginnings before the
/// rest.
class CommandModel : public QAbstractListModel {
    Q_OBJECT

  public:
    enum Role { KeysRole = Qt::UserRole + 1, GroupRole };

    explicit CommandModel(std::vector<Command> commands, QObject* parent = nullptr);
    void setFilter(const QString& text);
    [[nodiscard]] QAction* action(int row) const;
    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    /// How well `text` finds `title`; below 0 = not at all.
    static int score(const QString& text, const QString& title);

  private:
    std::vector<Command> m_commands;
    std::vector<std::size_t> m_shown;
};

/// A field that finds any command and runs it.
class CommandPalette : public QDialog {
    Q_OBJECT

  public:
    CommandPalette(std::vector<Command> commands, QWidget* parent);
    [[nodiscard]] QLineEdit* field() const { return m_field; }
    [[nodiscard]] CommandModel* model() const { return m_model; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void run(int row);

    QLineEdit* m_field;
    QListView* m_list;
    CommandModel* m_model;
};

} // namespace warpline
