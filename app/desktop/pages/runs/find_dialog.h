// SPDX-License-Identifier: GPL-3.0-or-later
// A cluster in one step: a name to look behind, what was found, what is saved of it.
#pragma once

#include "app/view/cluster/cluster_finder.h"

#include <QDialog>

#include <memory>
#include <optional>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace fourfold::ui {

class FindDialog : public QDialog {
    Q_OBJECT
public:
    // `presets` outlives it; `open`: the plan that it is for, with `gpus` GPUs.
    FindDialog(const Presets& presets, std::optional<Plan> open, int gpus, QWidget* parent = nullptr);
    ~FindDialog() override;
    // What was saved, accepted or not.
    [[nodiscard]] const std::optional<SavedCluster>& saved() const { return m_finder->saved(); }
    void accept() override;
    void reject() override;

private:
    QWidget* makeQuestions();
    QWidget* makeControls(const Presets& presets);
    void look();
    void askAgain();
    void receive(); // what the thread said
    void fill(); // the controls with what was found
    void showState();
    bool save();
    void measure();
    [[nodiscard]] view::ClusterFinder::Controls controls() const;

    std::optional<Plan> m_open;
    int m_gpus;
    QLineEdit *m_name, *m_jumps, *m_baseFolder, *m_id, *m_account, *m_qos, *m_time, *m_options;
    QPlainTextEdit *m_prelude, *m_found;
    QCheckBox* m_slurm;
    QComboBox *m_partition, *m_like;
    QSpinBox* m_nodes;
    QLabel* m_said;
    QWidget *m_queue = nullptr, *m_controls = nullptr; // of Slurm; all of what is saved
    QPushButton *m_look = nullptr, *m_measure = nullptr, *m_take = nullptr;
    std::unique_ptr<view::ClusterFinder> m_finder; // last: its thread wakes the dialog
};

} // namespace fourfold::ui
