// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/plan_document.h"

#include "app/models/plan/edit_command.h"
#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/facts.h"
#include "core/plan/fields.h"

namespace fourfold::ui {

PlanDocument::PlanDocument(const Presets& presets, QObject* parent)
    : QObject(parent)
    , m_state(presets)
    , m_predictor({}, [this] { QMetaObject::invokeMethod(this, &PlanDocument::receive, Qt::QueuedConnection); })
{
    m_undo.setUndoLimit(1000);
    connect(&m_undo, &QUndoStack::cleanChanged, this, &PlanDocument::fileChanged);
}

PlanDocument::~PlanDocument()
{
    m_undo.disconnect(this); // its end would tell of a clean document
}

Expected<void> PlanDocument::open(const std::filesystem::path& file)
{
    FOURFOLD_CHECK(m_state.open(file));
    beginAnew();
    return {};
}

Expected<void> PlanDocument::reload()
{
    FOURFOLD_TRY(Plan plan, m_state.reread());
    apply(tr("Reload"), {}, std::move(plan));
    m_undo.setClean();
    emit fileChanged();
    return {};
}

void PlanDocument::reset(Plan plan)
{
    m_state.reset(std::move(plan));
    beginAnew();
}

Expected<void> PlanDocument::save(const std::filesystem::path& file)
{
    const bool moves = plan().where != file.string(); // relative data paths then start at the new folder
    FOURFOLD_CHECK(m_state.save(file));
    if (moves)
        tell();
    m_undo.setClean();
    emit fileChanged();
    return {};
}

void PlanDocument::keepMine()
{
    m_state.keep_mine();
    m_undo.resetClean();
    emit fileChanged();
}

QString PlanDocument::title() const
{
    return fromUtf8(m_state.title());
}

void PlanDocument::setValue(const std::string& path, const Json& value, const QString& text, bool merge)
{
    if (value_at(plan().document, path) == value)
        return;
    apply(text, merge ? fromUtf8(path) : QString(), view::with_value(plan(), path, value));
}

void PlanDocument::changeModel(const QString& text, Expected<Plan> changed)
{
    const std::optional<ResolvedPlan> before = resolved();
    apply(text, {}, std::move(changed));
    if (!before || !resolved())
        return;
    const QString followed = fromUtf8(view::batch_change(before->training, resolved()->training));
    if (!followed.isEmpty())
        emit told(tr("Followed the model: %1; Ctrl+Z takes all of it back").arg(followed));
}

void PlanDocument::apply(const QString& text, const QString& mergeKey, Expected<Plan> changed)
{
    if (!changed) {
        emit editRefused(fromUtf8(changed.error().line()));
        return;
    }
    if (changed->document == plan().document)
        return;
    const auto put = [this](const Plan& plan) {
        m_state.put(plan);
        tell();
    };
    m_undo.push(new EditCommand(text, mergeKey, plan(), *std::move(changed), put));
}

void PlanDocument::beginAnew()
{
    m_undo.clear();
    if (!isValid())
        m_prediction.reset(); // it was another plan's
    tell();
    emit fileChanged();
}

void PlanDocument::tell()
{
    emit planChanged();
    if (isValid()) {
        m_predictor.request(*resolved());
        take();
    }
    // Also when there is no new answer: the old one is dimmed because none is on its way.
    emit predictionChanged();
}

bool PlanDocument::take()
{
    std::optional<view::Predictor::Answer> answer = m_predictor.take();
    if (!answer || !m_state.last_resolved()) // one of the plan that was here before
        return false;
    m_prediction = std::move(answer->prediction);
    m_milliseconds = answer->milliseconds;
    return true;
}

void PlanDocument::receive()
{
    if (take())
        emit predictionChanged();
}

} // namespace fourfold::ui
