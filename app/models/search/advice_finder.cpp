// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/advice_finder.h"

#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"

namespace fourfold::ui {

AdviceFinder::AdviceFinder(PlanDocument& document, QObject* parent)
    : QObject(parent)
    , m_document(document)
    , m_finder([this] { QMetaObject::invokeMethod(this, &AdviceFinder::tick, Qt::QueuedConnection); })
{
    m_wait.setSingleShot(true);
    connect(&m_wait, &QTimer::timeout, this, &AdviceFinder::tick);
    connect(&document, &PlanDocument::predictionChanged, this, &AdviceFinder::planChanged);
}

void AdviceFinder::setActive(bool active)
{
    m_active = active;
    planChanged();
}

void AdviceFinder::planChanged()
{
    if (!m_finder.follow(m_document.isAnswered() ? m_document.prediction() : nullptr, m_active))
        return;
    m_wait.stop();
    wait();
    emit changed();
}

// Again where a timer of Qt's came a little early.
void AdviceFinder::wait()
{
    if (const int milliseconds = m_finder.next_tick(); milliseconds >= 0)
        m_wait.start(milliseconds);
}

void AdviceFinder::tick()
{
    if (m_finder.tick())
        emit changed();
    wait();
}

void AdviceFinder::apply(std::size_t index)
{
    if (index >= all().size())
        return;
    const PlanEdit edit = all()[index].edit; // the list goes with the change
    m_document.apply(tr("Apply %1").arg(fromUtf8(edit.summary)), {}, view::with_fields(m_document.plan(), edit.fields));
}

} // namespace fourfold::ui
