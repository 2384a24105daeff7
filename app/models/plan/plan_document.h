// SPDX-License-Identifier: GPL-3.0-or-later
// The open plan of app/view with an undo history of Qt's and the answer to it. One edit in, one answer out.
#pragma once

#include "app/view/plan/plan_state.h"
#include "app/view/prediction/predictor.h"

#include <QObject>
#include <QUndoStack>

#include <filesystem>
#include <memory>
#include <optional>

namespace fourfold::ui {

class PlanDocument : public QObject {
    Q_OBJECT
public:
    // `presets` outlives the document. The document is empty until reset() or open().
    explicit PlanDocument(const Presets& presets, QObject* parent = nullptr);
    ~PlanDocument() override;

    // --- file ---
    // Shows another plan and forgets the undo history. On a Problem nothing changes.
    Expected<void> open(const std::filesystem::path& file);
    // The file as it is now, as one step that can be undone. On a Problem nothing changes.
    Expected<void> reload();
    // An untitled plan, counted as saved until it is edited.
    void reset(Plan plan);
    // Writes the file as a whole or not at all, and makes it the document's file.
    Expected<void> save(const std::filesystem::path& file);
    [[nodiscard]] const std::filesystem::path& file() const { return m_state.file(); } // empty: untitled
    // Whether somebody else wrote the file since it was read, saved or keepMine() was called. One that is gone is not
    // changed: saving brings it back.
    [[nodiscard]] bool isChangedOnDisk() const { return m_state.is_changed_on_disk(); }
    // What the file holds now is known, and what is here is to replace it.
    void keepMine();
    [[nodiscard]] QString title() const; // the file's name, else the plan's
    [[nodiscard]] bool isDirty() const { return !m_undo.isClean(); }
    // The plan differs from every file although it was not edited here: a copy, or restored after a crash.
    void markUnsaved() { m_undo.resetClean(); }

    // --- edits ---
    [[nodiscard]] const view::PlanState& state() const { return m_state; }
    [[nodiscard]] const Plan& plan() const { return m_state.plan(); }
    [[nodiscard]] const Presets& presets() const { return m_state.presets(); }
    [[nodiscard]] QUndoStack& undoStack() { return m_undo; }
    // Sets one key as one undoable step; steps of the same `path` in a row join when `merge`. A refused value (a type
    // that no plan has) leaves the plan as it was and is told by editRefused().
    void setValue(const std::string& path, const Json& value, const QString& text, bool merge = true);
    // Another model (app/view/plan/edits.h: with_other_model), as one step; told() names what else changed.
    void changeModel(const QString& text, Expected<Plan> changed);
    // The same for a change made elsewhere (app/view/plan/edits.h).
    void apply(const QString& text, const QString& mergeKey, Expected<Plan> changed);

    // --- answer ---
    // The current plan with its defaults; empty when it does not resolve, `problem()` says why then.
    [[nodiscard]] const std::optional<ResolvedPlan>& resolved() const { return m_state.resolved(); }
    [[nodiscard]] const std::optional<Problem>& problem() const { return m_state.problem(); }
    // The last plan that resolved, for facts to show while the current one does not.
    [[nodiscard]] const std::optional<ResolvedPlan>& lastResolved() const { return m_state.last_resolved(); }
    // Rules that the current plan breaks (check()); the memory limit is in the prediction's reasons.
    [[nodiscard]] const std::vector<Reason>& brokenRules() const { return m_state.broken_rules(); }
    // True when the plan resolves and breaks no rule: a prediction for it exists or is under way.
    [[nodiscard]] bool isValid() const { return m_state.is_valid(); }
    // Of the last valid plan; null before the first.
    [[nodiscard]] const std::shared_ptr<const Prediction>& prediction() const { return m_prediction; }
    // True when prediction() answers the plan as it stands.
    [[nodiscard]] bool isAnswered() const { return isValid() && m_prediction && !m_predictor.is_busy(); }
    [[nodiscard]] double predictionMilliseconds() const { return m_milliseconds; }

signals:
    void planChanged(); // plan, resolved plan and broken rules
    void predictionChanged(); // prediction() or isAnswered()
    void fileChanged(); // file(), title() or isDirty()
    void editRefused(const QString& why);
    void told(const QString& what); // what an edit did beyond what was asked for

private:
    void beginAnew(); // with another plan: no steps, no answer of the one before
    void tell(); // of another plan, and asks for its answer
    bool take();
    void receive();

    view::PlanState m_state;
    QUndoStack m_undo;
    std::shared_ptr<const Prediction> m_prediction;
    double m_milliseconds = 0;
    view::Predictor m_predictor;
};

} // namespace fourfold::ui
