// SPDX-License-Identifier: GPL-3.0-or-later
// One undoable change of a plan. Consecutive changes with the same merge key (a spin box held down) become one.
#pragma once

#include "core/plan/plan.h"

#include <QUndoCommand>

#include <functional>

namespace fourfold::ui {

class EditCommand : public QUndoCommand {
public:
    using Show = std::function<void(const Plan&)>; // puts a plan into the document

    // An empty `mergeKey` never merges.
    EditCommand(const QString& text, QString mergeKey, Plan before, Plan after, Show show);

    void undo() override;
    void redo() override;
    [[nodiscard]] int id() const override;
    bool mergeWith(const QUndoCommand* other) override;

private:
    QString m_mergeKey;
    Plan m_before, m_after;
    Show m_show;
};

} // namespace fourfold::ui
