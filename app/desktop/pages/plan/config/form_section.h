// SPDX-License-Identifier: GPL-3.0-or-later
// One titled group of inputs in the configuration panel: rows of a label and fields, a derived fact beside the title,
// and under each field the reason why its value cannot be, with a button that puts the nearest valid one. A field says
// when it is made what it shows of a plan.
#pragma once

#include "app/models/plan/plan_document.h"
#include "app/models/plan/preset_model.h"

#include <QWidget>

#include <functional>
#include <map>
#include <string>
#include <vector>

class QComboBox;
class QGridLayout;
class QLabel;
class QSpinBox;

namespace fourfold::ui {

class DegreeSpinBox;
class InvalidFrame;
class ReasonRow;

class FormSection : public QWidget {
    Q_OBJECT
public:
    template <class Value>
    using Of = std::function<Value(const ResolvedPlan&)>;
    using TextOf = Of<QString>;

    // `document` outlives the section.
    FormSection(const QString& title, PlanDocument& document, const TextOf& fact, QWidget* parent = nullptr);
    // Shows the last plan that resolved.
    void showPlan();
    [[nodiscard]] bool isShowing() const { return m_showing; } // what changes now was not typed
    // Shows the reasons whose field is in this section; returns how many it took out of `reasons`.
    int takeReasons(std::vector<Reason>& reasons);

    // Runs `show` with every plan that is shown.
    void follow(std::function<void(const ResolvedPlan&)> show) { m_shows.push_back(std::move(show)); }
    void shows(QSpinBox* box, const Of<int>& value); // a number of the plan; it is not told of as typed
    // A spin box that shows `value` and writes `path` as an undoable, merging step. `name` names it for undo and screen
    // readers.
    DegreeSpinBox* degreeBox(const std::string& path, const QString& name, const Of<int>& value);
    // A picker of presets: shows the one with the id `id`, or the plan's own by its name, and gives `choose` another.
    QComboBox* presetBox(PresetModel::Kind kind, const char* objectName, const QString& name, const TextOf& id,
        const TextOf& ownName, const std::function<void(const std::string& id)>& choose);

    // Adds a row. Each widget of `fields` may carry the plan's path that it edits, for reasons; an empty path has none.
    struct Field {
        QWidget* widget;
        std::string path;
    };
    // What it returns shows and hides the row (not its reasons).
    using Row = std::vector<QWidget*>;
    Row addRow(const QString& label, const std::vector<Field>& fields, const TextOf& note = {});
    static void showRow(const Row& row, bool visible);
    // A row with a picker for an enumeration of the plan (see choices.h).
    Row addChoice(const QString& label, const std::string& path, const QString& name, const Of<std::string>& spelling);
    // A row with a box to tick, `words` beside it.
    Row addToggle(const QString& label, const QString& words, const std::string& path, const QString& name,
        const Of<bool>& value);
    // A quiet line over the width of the fields.
    void addNote(const TextOf& note);

protected:
    // The wheel over a field without focus scrolls the panel instead of changing the plan.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QLabel* noteOf(const TextOf& text);
    void showNothing();

    PlanDocument& m_document;
    QGridLayout* m_grid;
    std::vector<std::function<void(const ResolvedPlan&)>> m_shows;
    bool m_showing = false, m_isEmpty = false;
    std::map<std::string, InvalidFrame*> m_frames;
    std::map<std::string, ReasonRow*> m_reasons;
};

} // namespace fourfold::ui
