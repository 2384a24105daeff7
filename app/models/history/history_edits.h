// SPDX-License-Identifier: GPL-3.0-or-later
// What a person does to stored runs, each as one step that can be undone.
#pragma once

#include "core/base/expected.h"

#include <QStringList>
#include <QUndoCommand>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace fourfold::ui {

// "paper, slow" and back; empty words are left out.
QString tagText(const std::vector<std::string>& tags);
std::vector<std::string> tagsOf(const QString& text);

// What a step does, there and back; a Problem means that nothing was done.
using HistoryChange = std::function<Expected<void>()>;

// Empty file: the user's history.
struct HistoryStep {
    QString text; // "Delete 3 runs"
    HistoryChange redo, undo;
};
HistoryStep deleteRuns(const std::filesystem::path& file, const QStringList& ids);
HistoryStep changeTags(const std::filesystem::path& file, const QString& id, const std::vector<std::string>& before,
    const std::vector<std::string>& after);
HistoryStep changeNote(
    const std::filesystem::path& file, const QString& id, const std::string& before, const std::string& after);

class HistoryCommand : public QUndoCommand {
public:
    // `done` is called after each change with its outcome.
    HistoryCommand(HistoryStep step, std::function<void(const Expected<void>&)> done);
    void undo() override;
    void redo() override;

private:
    void run(const HistoryChange& change);

    HistoryStep m_step;
    std::function<void(const Expected<void>&)> m_done;
};

} // namespace fourfold::ui
