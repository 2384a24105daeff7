// SPDX-License-Identifier: GPL-3.0-or-later
// A start that asks three things: model, GPUs, how much training; and the plan that answers them.
#pragma once

#include "core/plan/plan.h"

#include <QDialog>

#include <memory>
#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QSpinBox;

namespace fourfold::view {
class Start;
}

namespace fourfold::ui {

class StartDialog : public QDialog {
    Q_OBJECT
public:
    // `presets` outlives it; `open`: the plan whose model and GPUs stand there at first.
    StartDialog(const Presets& presets, const std::optional<ResolvedPlan>& open, QWidget* parent);
    ~StartDialog() override;
    // The plan that was taken; null until the dialog was accepted.
    [[nodiscard]] std::optional<Plan> plan() const;

private:
    QComboBox* makePicker(const char* name, const QString& accessible, const char* kind, const std::string& text);
    void ask();
    void showAnswer(); // what is known of it now
    void takeBack(); // the questions are others: the answer goes

    const Presets& m_presets;
    QComboBox *m_model, *m_cluster;
    QSpinBox* m_gpus;
    QLineEdit* m_extent;
    QLabel *m_said, *m_why;
    QListWidget* m_choices;
    QPushButton *m_look, *m_take;
    std::unique_ptr<view::Start> m_start; // last: its thread wakes the dialog
};

} // namespace fourfold::ui
