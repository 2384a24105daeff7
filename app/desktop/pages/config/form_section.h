// SPDX-License-Identifier: GPL-3.0-or-later
// One titled group of inputs in the configuration panel: rows of a label and fields, a derived fact beside the title,
// and under each field the reason why its value cannot be, with a button that puts the nearest valid one.
#pragma once

#include "app/models/plan/plan_document.h"

#include <QWidget>

#include <map>
#include <string>

class QComboBox;
class QGridLayout;
class QLabel;
class QSpinBox;

namespace fourfold::ui {

class InvalidFrame;
class ReasonRow;

class FormSection : public QWidget {
    Q_OBJECT
public:
    FormSection(const QString& title, PlanDocument& document, QWidget* parent = nullptr);

    // Shows the reasons whose field is in this section; returns how many it took out of `reasons`.
    int takeReasons(std::vector<Reason>& reasons);

protected:
    PlanDocument& document() { return m_document; }
    void setFact(const QString& fact);

    // Adds a row. Each widget of `fields` may carry the plan's path that it edits, for reasons; an empty path has none.
    struct Field {
        QWidget* widget;
        std::string path;
    };
    // What it returns shows and hides the row (not its reasons).
    using Row = std::vector<QWidget*>;
    Row addRow(const QString& label, const std::vector<Field>& fields, QWidget* note = nullptr);
    static void showRow(const Row& row, bool visible);
    // A quiet line over the width of the fields.
    QLabel* addNote();
    static QLabel* makeNote();

    // A spin box that writes `path` as an undoable, merging step. `name` names it for undo and screen readers.
    QSpinBox* addSpinBox(const std::string& path, const QString& name, QSpinBox* box);
    // A picker for an enumeration of the plan (see choices.h).
    QComboBox* makeChoice(const std::string& path, const QString& name);
    static QComboBox* makeComboBox(const QString& name);
    static void showValue(QSpinBox* box, int value);
    static void showChoice(QComboBox* box, const QString& data);
    // The wheel over a field without focus scrolls the panel instead of changing the plan.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    PlanDocument& m_document;
    QGridLayout* m_grid;
    QLabel* m_fact;
    std::map<std::string, InvalidFrame*> m_frames;
    std::map<std::string, ReasonRow*> m_reasons;
};

} // namespace fourfold::ui
