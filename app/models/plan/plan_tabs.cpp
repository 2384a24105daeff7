// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/plan_tabs.h"

#include <algorithm>

namespace fourfold::ui {

PlanTabs::PlanTabs(const Presets& presets, QObject* parent)
    : QObject(parent)
    , m_presets(presets)
{
    m_documents.push_back(std::make_unique<PlanDocument>(presets));
    watch(*m_documents.front());
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

int PlanTabs::indexOf(const PlanDocument& document) const
{
    const auto found = std::find_if(
        m_documents.begin(), m_documents.end(), [&](const auto& held) { return held.get() == &document; });
    return found == m_documents.end() ? -1 : static_cast<int>(found - m_documents.begin());
}

int PlanTabs::indexOf(const std::filesystem::path& file) const
{
    for (int i = 0; i < count(); ++i) {
        std::error_code error;
        if (!document(i).file().empty() && std::filesystem::equivalent(document(i).file(), file, error))
            return i;
    }
    return -1;
}

PlanDocument& PlanTabs::add()
{
    const int index = m_current + 1;
    auto document = std::make_unique<PlanDocument>(m_presets);
    PlanDocument& added = *document;
    watch(added);
    m_documents.insert(m_documents.begin() + index, std::move(document));
    emit this->added(index);
    return added;
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
    if (index == m_current || index < 0 || index >= count())
        return;
    m_current = index;
    m_undo.setActiveStack(&current().undoStack());
    emit currentChanged();
}

void PlanTabs::move(int from, int to)
{
    if (from == to || from < 0 || to < 0 || from >= count() || to >= count())
        return;
    const PlanDocument* held = &current();
    auto document = std::move(m_documents[static_cast<std::size_t>(from)]);
    m_documents.erase(m_documents.begin() + from);
    m_documents.insert(m_documents.begin() + to, std::move(document));
    m_current = indexOf(*held);
    emit moved(from, to);
    emit edited();
}

void PlanTabs::close(int index)
{
    if (index < 0 || index >= count())
        return;
    if (count() == 1) {
        // Not destroyed: whoever shows the current document keeps a valid one.
        m_documents.push_back(std::make_unique<PlanDocument>(m_presets));
        watch(*m_documents.back());
        emit added(1);
    }
    const bool wasCurrent = index == m_current;
    const int next = wasCurrent ? (index + 1 < count() ? index + 1 : index - 1) : m_current;
    setCurrent(next);
    const std::unique_ptr<PlanDocument> gone = std::move(m_documents[static_cast<std::size_t>(index)]);
    m_undo.removeStack(&gone->undoStack());
    m_documents.erase(m_documents.begin() + index);
    if (m_current > index)
        --m_current;
    emit removed(index);
    emit edited();
}

} // namespace fourfold::ui
