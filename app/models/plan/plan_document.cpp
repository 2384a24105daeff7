// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/plan_document.h"

#include "app/models/plan/edit_command.h"
#include "app/models/plan/plan_facts.h"
#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"
#include "core/plan/fields.h"

namespace fourfold::ui {

namespace {
std::string textOf(const std::filesystem::path& file)
{
    const Expected<std::string> text = read_text_file(file);
    return text ? *text : std::string();
}
} // namespace

PlanDocument::PlanDocument(const Presets& presets, QObject* parent)
    : QObject(parent)
    , m_presets(presets)
{
    m_undo.setUndoLimit(1000);
    // The predictor is the context because it goes before the stack, whose end would tell of a clean document.
    connect(&m_undo, &QUndoStack::cleanChanged, &m_predictor, [this] { emit fileChanged(); });
    connect(&m_predictor, &PredictionService::answered, this, &PlanDocument::receive);
}

Expected<void> PlanDocument::open(const std::filesystem::path& file)
{
    FOURFOLD_TRY(Plan plan, read_plan(file));
    m_file = file;
    m_fileText = textOf(file);
    m_undo.clear();
    show(plan);
    emit fileChanged();
    return {};
}

Expected<void> PlanDocument::reload()
{
    FOURFOLD_TRY(Plan plan, read_plan(m_file));
    m_fileText = textOf(m_file);
    apply(tr("Reload"), {}, std::move(plan));
    m_undo.setClean();
    emit fileChanged();
    return {};
}

void PlanDocument::reset(Plan plan)
{
    m_file.clear();
    m_undo.clear();
    show(plan);
    emit fileChanged();
}

Expected<void> PlanDocument::save(const std::filesystem::path& file)
{
    const std::string text = to_text(m_plan);
    FOURFOLD_CHECK(write_file_atomically(file, text));
    m_file = file;
    m_fileText = text;
    if (m_plan.where != file.string()) {
        m_plan.where = file.string(); // relative data paths now start at the new folder
        show(m_plan);
    }
    m_undo.setClean();
    emit fileChanged();
    return {};
}

bool PlanDocument::isChangedOnDisk() const
{
    if (m_file.empty())
        return false;
    const Expected<std::string> now = read_text_file(m_file);
    return now && *now != m_fileText;
}

void PlanDocument::keepMine()
{
    m_fileText = textOf(m_file);
    m_undo.resetClean();
    emit fileChanged();
}

QString PlanDocument::title() const
{
    if (!m_file.empty())
        return fromUtf8(m_file.filename().string());
    const Json name = value_at(m_plan.document, "name");
    return name.is_string() ? fromUtf8(name.get<std::string>()) : tr("Untitled plan");
}

void PlanDocument::setValue(const std::string& path, const Json& value, const QString& text, bool merge)
{
    if (value_at(m_plan.document, path) == value)
        return;
    apply(text, merge ? fromUtf8(path) : QString(), view::with_value(m_plan, path, value));
}

void PlanDocument::changeModel(const QString& text, Expected<Plan> changed)
{
    const std::optional<ResolvedPlan> before = m_resolved;
    apply(text, {}, std::move(changed));
    if (!before || !m_resolved)
        return;
    const QString followed = batchChange(before->training, m_resolved->training);
    if (!followed.isEmpty())
        emit told(tr("Followed the model: %1; Ctrl+Z takes all of it back").arg(followed));
}

void PlanDocument::apply(const QString& text, const QString& mergeKey, Expected<Plan> changed)
{
    if (!changed) {
        emit editRefused(fromUtf8(changed.error().line()));
        return;
    }
    if (changed->document == m_plan.document)
        return;
    // The folder of a plan is where it was last saved, also for a step undone or redone after that.
    const auto put = [this](const Plan& plan) {
        Plan moved = plan;
        moved.where = m_plan.where;
        show(moved);
    };
    m_undo.push(new EditCommand(text, mergeKey, m_plan, *std::move(changed), put));
}

void PlanDocument::show(const Plan& plan)
{
    m_plan = plan;
    m_problem.reset();
    m_brokenRules.clear();
    if (Expected<ResolvedPlan> resolved = resolve(m_plan, m_presets)) {
        m_resolved = *std::move(resolved);
        m_lastResolved = m_resolved;
        m_brokenRules = check(*m_resolved);
    } else {
        m_resolved.reset();
        m_problem = std::move(resolved).error();
    }
    emit planChanged();
    if (isValid())
        m_predictor.request(*m_resolved);
    // Also when the answer came at once: now it belongs to the plan, or it is dimmed because no answer is on its way.
    emit predictionChanged();
}

void PlanDocument::receive(const std::shared_ptr<const Prediction>& prediction, double milliseconds)
{
    m_prediction = prediction;
    m_milliseconds = milliseconds;
    emit predictionChanged();
}

} // namespace fourfold::ui
