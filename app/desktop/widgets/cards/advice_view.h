// SPDX-License-Identifier: GPL-3.0-or-later
// Every change that would make the plan fit or make it faster, with its price in speed and memory. Enter, a double
// click or the button puts the chosen one into the plan.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/models/search/advice_finder.h"
#include "app/models/shared/table_model.h"

class QPushButton;

namespace fourfold::ui {

class DataTable;

class AdviceView : public Card {
    Q_OBJECT
public:
    // `finder` outlives the view.
    explicit AdviceView(AdviceFinder& finder, QWidget* parent = nullptr);
    [[nodiscard]] Table table() const override { return m_finder.table(); }
    [[nodiscard]] QSize minimumSizeHint() const override { return least(320, 150); }

protected:
    [[nodiscard]] bool isEmpty() const override { return m_finder.all().empty(); }
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void showState();
    void place();

    AdviceFinder& m_finder;
    TableModel m_model;
    DataTable* m_table;
    QPushButton* m_apply;
};

} // namespace fourfold::ui
