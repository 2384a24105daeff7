// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/history/history_edits.h"

#include "app/models/shared/history_access.h"
#include "app/models/shared/text.h"

namespace fourfold::ui {

namespace {
// A change of the store that is opened for it alone.
HistoryChange with(const std::filesystem::path& file, std::function<Expected<void>(HistoryStore&)> change)
{
    return [file, change = std::move(change)]() -> Expected<void> {
        FOURFOLD_TRY(HistoryStore store, writableHistory(file));
        return change(store);
    };
}
} // namespace

QString tagText(const std::vector<std::string>& tags)
{
    QStringList words;
    for (const std::string& tag : tags)
        words << fromUtf8(tag);
    return words.join(QStringLiteral(", "));
}

std::vector<std::string> tagsOf(const QString& text)
{
    std::vector<std::string> tags;
    for (const QString& word : text.split(QLatin1Char(','))) {
        if (const QString tag = word.simplified(); !tag.isEmpty())
            tags.push_back(tag.toStdString());
    }
    return tags;
}

HistoryStep deleteRuns(const std::filesystem::path& file, const QStringList& ids)
{
    std::vector<std::string> runs;
    for (const QString& id : ids)
        runs.push_back(id.toStdString());
    const auto mark = [file, runs](bool deleted) {
        return with(file, [runs, deleted](HistoryStore& store) { return store.set_deleted(runs, deleted); });
    };
    return {tr("Delete %1").arg(counted(double(ids.size()), tr("run"))), mark(true), mark(false)};
}

HistoryStep changeTags(const std::filesystem::path& file, const QString& id, const std::vector<std::string>& before,
    const std::vector<std::string>& after)
{
    const auto set = [file, run = id.toStdString()](const std::vector<std::string>& tags) {
        return with(file, [run, tags](HistoryStore& store) { return store.set_tags(run, tags); });
    };
    return {tr("Change tags"), set(after), set(before)};
}

HistoryStep changeNote(
    const std::filesystem::path& file, const QString& id, const std::string& before, const std::string& after)
{
    const auto set = [file, run = id.toStdString()](const std::string& note) {
        return with(file, [run, note](HistoryStore& store) { return store.set_note(run, note); });
    };
    return {tr("Change note"), set(after), set(before)};
}

HistoryCommand::HistoryCommand(HistoryStep step, std::function<void(const Expected<void>&)> done)
    : QUndoCommand(step.text)
    , m_step(std::move(step))
    , m_done(std::move(done))
{
}

void HistoryCommand::undo()
{
    run(m_step.undo);
}

void HistoryCommand::redo()
{
    run(m_step.redo);
}

void HistoryCommand::run(const HistoryChange& change)
{
    const Expected<void> outcome = change();
    if (!outcome)
        setObsolete(true); // nothing was done: there is nothing to take back
    m_done(outcome);
}

} // namespace fourfold::ui
