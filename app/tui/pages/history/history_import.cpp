// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/history/history_import.h"

#include "app/view/text.h"
#include "core/base/text.h"
#include "core/calibration/score_card.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
// The files and folders here that may hold runs, with what they are.
std::vector<std::pair<std::filesystem::path, const char*>> found_here()
{
    std::vector<std::pair<std::filesystem::path, const char*>> found;
    for (const std::filesystem::path& table : measured_tables_in("."))
        found.emplace_back(table.filename(), "measured table in this folder");
    const auto tables = static_cast<std::ptrdiff_t>(found.size());
    std::error_code error;
    for (std::filesystem::directory_iterator at(".", error), end; !error && at != end; at.increment(error)) {
        const std::filesystem::path name = at->path().filename();
        std::error_code none;
        if (std::filesystem::is_regular_file(at->path() / "events.jsonl", none))
            found.emplace_back(name, "folder of a run");
        else if (name.extension() == ".json" && !name.string().ends_with(".plan.json"))
            found.emplace_back(name, "exported runs in this folder");
    }
    std::sort(found.begin() + tables, found.end());
    return found;
}
} // namespace

HistoryImport::HistoryImport(Desk& desk, std::function<void(const std::string&)> imported,
    std::function<void(const std::filesystem::path&)> tracked)
    : desk_(desk)
    , imported_(std::move(imported))
    , tracked_(std::move(tracked))
    , work_(desk.wake())
{
}

void HistoryImport::ask()
{
    if (work_.is_running()) {
        desk_.tell("One import at a time: the last one is still being read", view::Tone::warning);
        return;
    }
    std::vector<Picker::Item> items{{"A file or folder...", "type its name", [this] { ask_for_file(); }},
        {"Curves of TensorBoard or W&B...", "a folder, followed while it grows", [this] { ask_for_curves(); }}};
    for (const auto& [path, what] : found_here())
        items.push_back({path.string(), what, [this, path = path] { take(path); }});
    for (const std::filesystem::path& table : published_tables())
        items.push_back({table.stem().string(), "published table", [this, table] { take(table); }});
    desk_.open(std::make_unique<Picker>("Take runs into the history", std::move(items)));
}

void HistoryImport::ask_for_file()
{
    desk_.ask_for_path("Take runs into the history",
        "Exported runs (.json), a measured table (.csv) or the folder of a run",
        [this](const std::filesystem::path& path) {
            take(path);
            return std::string();
        });
}

void HistoryImport::ask_for_curves()
{
    desk_.ask_for_path("Curves of TensorBoard or W&B",
        "A folder with event files of TensorBoard or runs of Weights & Biases; nothing is written there",
        [this](const std::filesystem::path& path) {
            tracked_(path);
            return std::string();
        });
}

void HistoryImport::take(const std::filesystem::path& path)
{
    desk_.tell("Reading " + path.filename().string() + "...");
    work_.start([this, path](const std::stop_token&) -> view::Background::Done {
        return [this, outcome = view::import_from({}, path)] { tell(outcome); };
    });
}

void HistoryImport::tick()
{
    work_.deliver();
}

void HistoryImport::tell(const view::RunImport& outcome)
{
    if (!outcome.added.empty() || !outcome.known.empty())
        imported_(outcome.only());
    if (outcome.problem)
        desk_.tell(
            (outcome.added.empty() ? "" : outcome.said() + "; then ") + outcome.problem->line(), view::Tone::bad);
    else
        desk_.tell(outcome.said(), view::Tone::good);
    if (outcome.remarks.empty())
        return;
    std::string text;
    for (const std::string& remark : outcome.remarks)
        text += printable(remark, kUncut) + "\n";
    desk_.open(std::make_unique<Pager>(view::counted(double(outcome.remarks.size()), "row") + " left out", text));
}

} // namespace fourfold::tui
