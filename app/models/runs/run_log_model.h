// SPDX-License-Identifier: GPL-3.0-or-later
// What happened in a run, newest last: states, files sent, warnings, errors. Steps are for the charts, not for the log.
#pragma once

#include <QAbstractTableModel>
#include <QDateTime>

#include <deque>

namespace fourfold::ui {

class RunLogModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { time, kind, message, columns };
    enum class Level { info, good, warning, error };
    static constexpr int LevelRole = Qt::UserRole; // Level as int

    using QAbstractTableModel::QAbstractTableModel;
    // Lines beyond the newest 2,000 go.
    void add(Level level, const QString& kind, const QString& message, const QDateTime& time = {});
    // Replaces the newest line when it is of this kind (progress of one transfer), else adds one.
    void update(Level level, const QString& kind, const QString& message);
    void clear();

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Line {
        QDateTime time;
        Level level = Level::info;
        QString kind, message;
    };
    std::deque<Line> m_lines;
};

} // namespace fourfold::ui
