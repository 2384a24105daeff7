// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/advice_finder.h"

#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"
#include "app/view/search/advice_finder.h"

namespace fourfold::ui {

namespace {
constexpr int kStillMilliseconds = 250; // a spin box that is held down asks for nothing
}

AdviceFinder::AdviceFinder(PlanDocument& document, QObject* parent)
    : QObject(parent)
    , m_document(document)
{
    m_wait.setSingleShot(true);
    m_wait.setInterval(kStillMilliseconds);
    connect(&m_wait, &QTimer::timeout, this, &AdviceFinder::look);
    connect(&document, &PlanDocument::predictionChanged, this, &AdviceFinder::planChanged);
}

void AdviceFinder::setActive(bool active)
{
    m_active = active;
    planChanged();
}

void AdviceFinder::planChanged()
{
    const Prediction* now = m_document.isAnswered() ? m_document.prediction().get() : nullptr;
    if (now && now == m_about && (m_report || isLooking()))
        return;
    m_wait.stop();
    m_work.cancel();
    m_report.reset();
    m_all.clear();
    m_about = now;
    if (now && m_active)
        m_wait.start();
    emit changed();
}

void AdviceFinder::look()
{
    AdviceRequest request;
    request.plan = m_document.prediction()->plan;
    request.threads = 1; // the other cores are for the answer to the next edit
    m_work.start([this, request = std::move(request)](const std::stop_token& stop) -> Background::Done {
        AdviceReport report = advise(request, stop);
        return [this, report = std::move(report)]() mutable {
            m_all = report.to_fit;
            m_all.insert(m_all.end(), report.faster.begin(), report.faster.end());
            m_report = std::move(report);
            emit changed();
        };
    });
}

QString AdviceFinder::line(const Advice& advice)
{
    return fromUtf8(view::advice_words(advice));
}

Table AdviceFinder::table() const
{
    return view::advice_rows(m_all, m_report ? m_report->to_fit.size() : 0);
}

void AdviceFinder::apply(std::size_t index)
{
    if (index >= m_all.size())
        return;
    const PlanEdit edit = m_all[index].edit; // the list goes with the change
    m_document.apply(tr("Apply %1").arg(fromUtf8(edit.summary)), {}, view::with_fields(m_document.plan(), edit.fields));
}

} // namespace fourfold::ui
