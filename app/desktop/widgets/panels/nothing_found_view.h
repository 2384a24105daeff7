// SPDX-License-Identifier: GPL-3.0-or-later
// In place of a search's results where there are none: what stood in the way, how near the nearest layout came, and the
// cheapest changes that lead to one, each with a button that puts it into the plan.
#pragma once

#include "app/models/search/cure_finder.h"

#include <QWidget>

class QLabel;
class QVBoxLayout;

namespace fourfold::ui {

class NothingFoundView : public QWidget {
    Q_OBJECT
public:
    // `finder` outlives the view.
    explicit NothingFoundView(CureFinder& finder, QWidget* parent = nullptr);
    [[nodiscard]] QString text() const; // all that it says, a line each

signals:
    void applyRequested(std::size_t index); // of the finder's all()

private:
    void showState();
    void addCure(std::size_t index, const Advice& cure);

    CureFinder& m_finder;
    QLabel *m_obstacle, *m_nearest, *m_lead;
    QVBoxLayout* m_cures;
};

} // namespace fourfold::ui
