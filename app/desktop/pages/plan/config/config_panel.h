// SPDX-License-Identifier: GPL-3.0-or-later
// The inputs of a plan at the left of the Plan page, in the order people know them, with the verdict under the layout.
#pragma once

#include "app/models/plan/plan_document.h"
#include "app/view/answer.h"

#include <QWidget>

#include <array>

class QLabel;
class QLayout;
class QVBoxLayout;

namespace fourfold::ui {

class FormSection;

class ConfigPanel : public QWidget {
    Q_OBJECT
public:
    explicit ConfigPanel(PlanDocument& document, QWidget* parent = nullptr);
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void importRequested(); // the user wants to take the model from a file

private:
    QLayout* makeVerdict();
    void showPlan();
    void showVerdict();

    PlanDocument& m_document;
    FormSection *m_model, *m_hardware, *m_layout, *m_batch, *m_techniques;
    [[nodiscard]] std::array<FormSection*, 5> sections() const;
    QLabel *m_verdict, *m_verdictRest, *m_otherReasons, *m_unknownKeys;
};

} // namespace fourfold::ui
