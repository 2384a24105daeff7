// SPDX-License-Identifier: GPL-3.0-or-later
// The stored runs as a list: predicted beside measured, sorted, filtered; and what a person does to them.
#pragma once

#include "core/history/store.h"
#include "core/report/table/table.h"

#include <functional>
#include <string>
#include <vector>

namespace fourfold::view {

class RunsList {
public:
    enum Column {
        name,
        state,
        layout,
        gpus,
        steps,
        predicted,
        measured,
        error,
        memory,
        most_off,
        tags,
        created,
        columns
    };
    static const char* title(int column);

    // Reads the user's history; none where there is none yet.
    Expected<void> read();
    // Words, or an expression over a run's figures (core/report/views/run_filter.h). On a Problem nothing changes.
    Expected<void> set_filter(const std::string& filter);
    [[nodiscard]] const std::string& filter() const { return filter_; }
    void sort(int column, bool falling);
    [[nodiscard]] int sort_column() const { return sort_column_; }
    [[nodiscard]] bool is_falling() const { return falling_; }

    [[nodiscard]] std::size_t stored() const { return all_.size(); }
    [[nodiscard]] const std::vector<RunSummary>& shown() const { return shown_; }
    [[nodiscard]] std::string text(std::size_t row, int column) const;
    [[nodiscard]] Table table() const; // of those on show

private:
    Expected<void> arrange();

    std::vector<RunSummary> all_, shown_; // all: newest first
    std::string filter_;
    int sort_column_ = created;
    bool falling_ = true;
};

Expected<RunDetail> stored_run(const std::string& id);
// Named facts of a run, in lines under headings ("# Run"): how it ended, predicted beside measured, plan, hosts.
std::string run_facts(const RunDetail& run);

// A change of the history, there and back.
struct HistoryStep {
    std::string text; // "Delete 3 runs"
    std::function<Expected<void>()> redo, undo;
};
HistoryStep delete_runs(const std::vector<std::string>& ids);
// "paper, slow": words separated by commas.
HistoryStep change_tags(const RunSummary& run, const std::string& tags);
HistoryStep change_note(const RunSummary& run, const std::string& note);

} // namespace fourfold::view
