// SPDX-License-Identifier: GPL-3.0-or-later
// What the command finder offers: commands, settings and examples, filtered by words, best match first.
#pragma once

#include <QAbstractListModel>

#include <functional>
#include <vector>

namespace fourfold::ui {

struct Command {
    QString text; // "Restore default layout"
    QString group; // "View"
    QString keys; // "Ctrl+1", for people; may be empty
    std::function<void()> run;
};

class CommandModel : public QAbstractListModel {
    Q_OBJECT
public:
    static constexpr int GroupRole = Qt::UserRole; // QString
    static constexpr int KeysRole = Qt::UserRole + 1; // QString

    explicit CommandModel(std::vector<Command> commands, QObject* parent = nullptr);

    // Shows what has every word of `text` in its group or text; those that begin with it come first.
    void setFilter(const QString& text);
    void run(int row) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

private:
    std::vector<Command> m_commands;
    std::vector<std::size_t> m_visible;
};

} // namespace fourfold::ui
