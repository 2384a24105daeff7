// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/plan_tabs.h"

namespace fourfold::ui {

PlanTabs::PlanTabs(const Presets& presets, QObject* parent)
    : QObject(parent)
    , m_presets(presets)
    , m_documents(std::make_unique<PlanDocument>(presets))
{
    watch(current());
    m_undo.setActiveStack(&current().undoStack());
}

void PlanTabs::watch(PlanDocument& document)
{
    m_undo.addStack(&document.undoStack());
    const auto tell = [this, &document] {
        if (const int index = indexOf(document); index >= 0)
            emit titleChanged(index);
        emit edited();
    };
    connect(&document, &PlanDocument::fileChanged, this, tell);
    connect(&document, &PlanDocument::planChanged, this, tell);
}

PlanDocument& PlanTabs::add()
{
    const int index = m_documents.insert(std::make_unique<PlanDocument>(m_presets));
    watch(document(index));
    emit added(index);
    return document(index);
}

PlanDocument& PlanTabs::unused()
{
    // A copy or a restored plan has no edits either, and is in no file.
    if (current().file().empty() && current().undoStack().count() == 0 && !current().isDirty())
        return current();
    PlanDocument& document = add();
    setCurrent(indexOf(document));
    return document;
}

void PlanTabs::setCurrent(int index)
{
    if (!m_documents.set_current(index))
        return;
    m_undo.setActiveStack(&current().undoStack());
    emit currentChanged();
}

void PlanTabs::move(int from, int to)
{
    if (!m_documents.move(from, to))
        return;
    emit moved(from, to);
    emit edited();
}

void PlanTabs::close(int index)
{
    if (index < 0 || index >= count())
        return;
    if (count() == 1)
        add(); // not emptied in its place: whoever shows the current document keeps a valid one
    setCurrent(m_documents.heir(index));
    const std::unique_ptr<PlanDocument> gone = m_documents.take(index);
    m_undo.removeStack(&gone->undoStack());
    emit removed(index);
    emit edited();
}

} // namespace fourfold::ui
