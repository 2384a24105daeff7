// SPDX-License-Identifier: GPL-3.0-or-later
// Under which id the nodes that were looked at become a cluster preset, and what of it cannot be measured from outside.
#pragma once

#include "core/plan/presets.h"
#include "runner/preflight/probe.h"

#include <QDialog>

class QComboBox;
class QLineEdit;

namespace fourfold::ui {

class ClusterDialog : public QDialog {
    Q_OBJECT
public:
    // `report` of nodes that answered.
    ClusterDialog(const Presets& presets, const ProbeReport& report, QWidget* parent = nullptr);
    [[nodiscard]] QString id() const;
    [[nodiscard]] QString like() const; // a cluster preset; empty: nothing is taken over

private:
    QLineEdit* m_id;
    QComboBox* m_like;
};

} // namespace fourfold::ui
