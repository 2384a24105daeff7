// SPDX-License-Identifier: GPL-3.0-or-later
// The training as a whole: what is known of it at the left, to be written there, and what it takes at the right. Enter
// or a double click opens where a figure comes from.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "app/models/plan/plan_document.h"
#include "app/models/shared/table_model.h"
#include "app/view/prediction/whole_training.h"

#include <memory>
#include <vector>

namespace fourfold::ui {

class DataTable;
class ValueEdit;

class TrainingView : public Card {
    Q_OBJECT
public:
    // `document` outlives the view.
    explicit TrainingView(PlanDocument& document, QWidget* parent = nullptr);
    ~TrainingView() override;
    // With the plan as it stands; an answer that is late belongs to the plan before.
    void showTraining();
    [[nodiscard]] Table table() const override { return view::whole_training_table(m_figures); }
    [[nodiscard]] QSize minimumSizeHint() const override { return least(320, 150); }

signals:
    void figureActivated(const QString& title, const fourfold::Explanation& explanation);

protected:
    [[nodiscard]] bool isEmpty() const override { return m_figures.empty(); }
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeForm();
    QString take(const char* path, const QString& text);
    void open(int row, int column);
    [[nodiscard]] std::optional<Explanation> explanationOf(int row, int column) const;
    [[nodiscard]] TrainingBudget budget() const; // precondition: there is an answer
    void place();

    // The figures, each with its derivation on hover.
    class Figures;

    PlanDocument& m_document;
    std::vector<view::TrainingFigure> m_figures;
    std::vector<ValueEdit*> m_inputs; // in the order of view::training_inputs()
    std::unique_ptr<Figures> m_model;
    DataTable* m_table;
    QWidget* m_body;
};

} // namespace fourfold::ui
