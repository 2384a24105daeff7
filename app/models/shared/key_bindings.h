// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of the window's commands, which the user may change: a table of commands and their keys.
#pragma once

#include "app/models/shared/columns_model.h"

#include <QKeySequence>
#include <QVariantMap>

#include <optional>
#include <vector>

class QAction;

namespace fourfold::ui {

class KeyBindings : public ColumnsModel {
    Q_OBJECT
public:
    enum Column { command, keys, columns };

    explicit KeyBindings(QObject* parent = nullptr);

    // `id`: what the session calls it. The keys that the action has now are its usual ones; the action outlives this.
    void add(const QString& id, const QString& group, QAction* action);

    // Keys that no command gets, as `holder` has them where it has the focus.
    void reserve(const QList<QKeySequence>& sequences, const QString& holder);

    // Gives a command these keys, and no others; empty: none. Nothing changes where another command has them: its name
    // is the answer.
    std::optional<QString> assign(int row, const QKeySequence& sequence);
    std::optional<QString> assignUsual(int row); // likewise
    void assignAllUsual();
    [[nodiscard]] bool isUsual(int row) const;
    [[nodiscard]] QString keysOf(const QString& id) const; // for people; empty when it has none

    // For the session: the keys of commands that have not their usual ones.
    [[nodiscard]] QVariantMap chosen() const;
    // Of chosen(). Commands that are gone and keys that two commands would share are left out.
    void restore(const QVariantMap& chosen);

signals:
    void changed();

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_entries.size()); }
    [[nodiscard]] QVariant cell(int row, int column, int role) const override;

private:
    struct Entry {
        QString id, group;
        QAction* action;
        QList<QKeySequence> usual;
    };
    // The name of another command with one of the keys.
    [[nodiscard]] std::optional<QString> holder(std::size_t other, const QList<QKeySequence>& sequences) const;
    [[nodiscard]] std::optional<QString> take(int row, const QList<QKeySequence>& sequences);
    [[nodiscard]] static QString nameOf(const Entry& entry);
    void tell();

    std::vector<Entry> m_entries;
    QList<QKeySequence> m_reserved;
    QString m_reservedFor;
};

} // namespace fourfold::ui
