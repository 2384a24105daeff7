// SPDX-License-Identifier: GPL-3.0-or-later
// The open plans, in the order of their tabs, one of them current. There is always at least one.
#pragma once

#include "app/models/plan/plan_document.h"
#include "app/view/plan/open_plans.h"

#include <QUndoGroup>

namespace fourfold::ui {

class PlanTabs : public QObject {
    Q_OBJECT
public:
    // `presets` outlives this. Starts with one empty document.
    explicit PlanTabs(const Presets& presets, QObject* parent = nullptr);

    [[nodiscard]] int count() const { return m_documents.count(); }
    [[nodiscard]] PlanDocument& document(int index) const { return m_documents.at(index); }
    [[nodiscard]] PlanDocument& current() const { return m_documents.current(); }
    [[nodiscard]] int currentIndex() const { return m_documents.current_index(); }
    [[nodiscard]] int indexOf(const PlanDocument& document) const
    {
        return m_documents.index_of(document);
    } // -1: not here
    [[nodiscard]] int indexOf(const std::filesystem::path& file) const
    {
        return m_documents.index_of(file);
    } // likewise
    // Undo and redo of the current document.
    [[nodiscard]] QUndoGroup& undoGroup() { return m_undo; }
    [[nodiscard]] const Presets& presets() const { return m_presets; }

    // A document behind the current one, empty until somebody fills it.
    PlanDocument& add();
    // The current document when nobody would miss it (untitled and never edited), else a new one, made current.
    PlanDocument& unused();
    void setCurrent(int index);
    void move(int from, int to);
    // Takes a document away without asking; the last one is emptied instead.
    void close(int index);

signals:
    void added(int index);
    void removed(int index); // after it is gone
    void moved(int from, int to);
    void currentChanged(); // another document is current
    void titleChanged(int index); // its title or whether it has unsaved changes
    void edited(); // some plan or its file changed: what a crash would lose is different now

private:
    void watch(PlanDocument& document);

    const Presets& m_presets;
    QUndoGroup m_undo;
    view::OpenPlans<PlanDocument> m_documents;
};

} // namespace fourfold::ui
