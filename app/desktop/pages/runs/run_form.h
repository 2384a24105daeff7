// SPDX-License-Identifier: GPL-3.0-or-later
// The run assistant: where to run, how long, what will be done, and the button that does it. A plan that cannot run
// says why instead.
#pragma once

#include "app/models/plan/plan_document.h"
#include "app/models/plan/preset_model.h"
#include "app/models/runs/run_controller.h"
#include "app/models/shared/text.h"
#include "app/view/runs/run_setup.h"

#include <QWidget>

#include <filesystem>

class QCheckBox;
class QComboBox;
class QLabel;
class QLayout;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace fourfold::ui {

class ValueEdit;

class RunForm : public QWidget {
    Q_OBJECT
public:
    // Both outlive the form.
    RunForm(PlanDocument& document, RunController& controller, QWidget* parent = nullptr);
    // Another plan is the one to run; it lives until the next call.
    void setDocument(PlanDocument& document);

    // Test the plan against the chosen target and show the result. Done by itself on every change.
    void refresh();
    [[nodiscard]] bool canStart() const;
    [[nodiscard]] QString refusal() const { return fromUtf8(m_setup.refusal); }
    [[nodiscard]] QString target() const; // as in load_target()
    void start();
    void setTarget(const QString& target); // as target() gives it
    void addTarget(const QString& id); // a preset that was saved since; chosen
    [[nodiscard]] PlanDocument& document() { return *m_document; }
    void setCanRestart(bool can); // there was a run
    // What startRequested()'s owner starts the run with, for what is shown of it before.
    void setTrainer(const std::filesystem::path& trainer, const std::filesystem::path& history);

    // The plan that the form is about; null where it does not resolve.
    [[nodiscard]] const ResolvedPlan* plan() const;

signals:
    void checkRequested(const fourfold::Target& target, const QString& name);
    void findRequested(); // of a cluster
    void sweepRequested(const fourfold::view::RunSetup& setup);
    void restartRequested();
    void rehearsalRequested(const fourfold::ResolvedPlan& plan);
    void queueRequested(const fourfold::view::RunSetup& setup);
    void startRequested(const fourfold::view::RunSetup& setup, const QString& title);
    void stopRequested();

protected:
    void showEvent(QShowEvent* event) override;

private:
    QLayout* makeFields();
    [[nodiscard]] QString planName() const;
    QString takeData(const QString& text); // what is wrong with it
    void chooseData();
    void showPreview();
    void check();
    void showState();

    PlanDocument* m_document = nullptr;
    QMetaObject::Connection m_planConnection;
    RunController& m_controller;
    PresetModel m_targets;
    view::RunSetup m_setup;
    std::filesystem::path m_trainer, m_history;
    QComboBox* m_target;
    QLineEdit* m_hosts;
    QSpinBox* m_steps;
    ValueEdit* m_data;
    QCheckBox* m_rehearsesFirst;
    QLabel *m_plan, *m_layout, *m_expected, *m_message;
    QPushButton *m_start, *m_stop, *m_detach, *m_preview, *m_check, *m_sweep, *m_restart, *m_rehearse, *m_find,
        *m_queue, *m_chooseData;
    bool m_stepsEdited = false, m_canRestart = false;
};

} // namespace fourfold::ui
