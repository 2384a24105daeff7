// SPDX-License-Identifier: GPL-3.0-or-later
// Where a number comes from: the tree of its parts with formulas, values and sources.
#pragma once

#include "app/models/prediction/explanation_model.h"

#include <QDialog>

class QLabel;
class QTreeView;

namespace fourfold::ui {

class DerivationDialog : public QDialog {
    Q_OBJECT
public:
    // `path` leads from the figure to the part that is opened and marked, by labels; may be empty or lead nowhere.
    // `sure`: how sure the figure is.
    DerivationDialog(const QString& title, Explanation explanation, const QStringList& path, QWidget* parent,
        const std::optional<Explanation>& sure = {});
    [[nodiscard]] ExplanationModel& model() { return m_model; }

private:
    void open(const QStringList& path);
    void copy();

    ExplanationModel m_model;
    QTreeView* m_tree;
    QLabel* m_detail; // the marked line in full: formulas are longer than a column
};

// Beside the window of `parent`, until it is closed.
void showDerivation(QWidget* parent, const QString& title, Explanation explanation, const QStringList& path = {},
    const std::optional<Explanation>& sure = {});
// Of a figure of explained_figures(), with how sure it is. What was stored without its operations is predicted anew.
void showDerivation(QWidget* parent, const QString& title, const Prediction& prediction, const std::string& figure,
    const QStringList& path = {});

} // namespace fourfold::ui
