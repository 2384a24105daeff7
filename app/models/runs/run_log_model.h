// SPDX-License-Identifier: GPL-3.0-or-later
// What happened in a run, newest last: states, files sent, warnings, errors. Steps are for the charts, not for the log.
#pragma once

#include "app/models/shared/columns_model.h"
#include "app/view/tone.h"

#include <QDateTime>

#include <deque>

namespace fourfold::ui {

class RunLogModel : public ColumnsModel {
    Q_OBJECT
public:
    enum Column { time, kind, message, columns };
    static constexpr int LevelRole = Qt::UserRole; // view::Tone as int

    explicit RunLogModel(QObject* parent = nullptr);
    // Lines beyond the newest 2,000 go.
    void add(view::Tone level, const QString& kind, const QString& message, const QDateTime& time = {});
    // Replaces the newest line when it is of this kind (progress of one transfer), else adds one.
    void update(view::Tone level, const QString& kind, const QString& message);
    void clear();

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_lines.size()); }
    [[nodiscard]] QVariant cell(int row, int column, int role) const override;

private:
    struct Line {
        QDateTime time;
        view::Tone level = view::Tone::neutral;
        QString kind, message;
    };
    std::deque<Line> m_lines;
};

} // namespace fourfold::ui
