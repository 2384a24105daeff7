// SPDX-License-Identifier: GPL-3.0-or-later
// The log of a live run as an item model: states, files sent, warnings, errors, the newest last.
#pragma once

#include "app/models/shared/columns_model.h"
#include "app/view/runs/live_run.h"

namespace fourfold::ui {

class RunLogModel : public ColumnsModel {
    Q_OBJECT
public:
    enum Column { time, kind, message, columns };
    static constexpr int LevelRole = Qt::UserRole; // view::Tone as int

    explicit RunLogModel(QObject* parent = nullptr);
    // Shows the log as it is now: `count` lines were said ever, the newest of them are `log`.
    void follow(const std::deque<view::LogLine>& log, std::size_t count);

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_lines.size()); }
    [[nodiscard]] QVariant cell(int row, int column, int role) const override;

private:
    std::deque<view::LogLine> m_lines;
    std::size_t m_count = 0;
};

} // namespace fourfold::ui
