// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/history/runs_list.h"

#include "app/view/runs/live_run.h"
#include "app/view/runs/run_setup.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/predict/term_off.h"
#include "core/report/views/run_filter.h"
#include "core/report/views/runs_table.h"

#include <algorithm>
#include <cmath>

namespace fourfold::view {

namespace {
// "2026-01-01 12:34" of an ISO time; lists need no seconds.
std::string short_time(const std::string& time)
{
    return time.size() >= 16 ? time.substr(0, 10) + " " + time.substr(11, 5) : time;
}

std::optional<double> number_of(const RunSummary& run, int column)
{
    switch (column) {
    case RunsList::gpus:
        return run.gpus;
    case RunsList::steps:
        return run.steps;
    case RunsList::predicted:
        return run.predicted_tps_per_gpu;
    case RunsList::measured:
        return run.measured_tps_per_gpu;
    case RunsList::error:
        return run.tps_error;
    case RunsList::memory:
        return run.measured_memory_gib;
    case RunsList::most_off:
        return run.most_off ? std::optional(std::abs(run.most_off->difference_s())) : std::nullopt;
    default:
        return {};
    }
}

bool is_number(int column)
{
    return (column >= RunsList::gpus && column <= RunsList::memory) || column == RunsList::most_off;
}

std::string words_of(const RunSummary& run, int column)
{
    switch (column) {
    case RunsList::name:
        return run.name;
    case RunsList::state:
        return state_label(run.state);
    case RunsList::layout:
        return run.layout;
    case RunsList::most_off:
        return most_off_text(run);
    case RunsList::tags:
        return joined(run.tags, ", ");
    case RunsList::created:
        return short_time(run.created);
    default:
        return {};
    }
}

std::string beside(
    const std::optional<double>& predicted, const std::optional<double>& measured, std::string (*format)(double))
{
    return (predicted ? format(*predicted) : kUnknown) + std::string(" \u2192 ")
        + (measured ? format(*measured) : kUnknown);
}

// A change of the store that is opened for it alone.
std::function<Expected<void>()> with_store(std::function<Expected<void>(HistoryStore&)> change)
{
    return [change = std::move(change)]() -> Expected<void> {
        FOURFOLD_TRY(HistoryStore store, HistoryStore::open(HistoryStore::default_file()));
        return change(store);
    };
}
} // namespace

const char* RunsList::title(int column)
{
    static constexpr const char* kTitles[columns]{"Run", "State", "Layout", "GPUs", "Steps", "Predicted", "TPS/GPU",
        "Error", "GiB", "Most off", "Tags", "Date (UTC)"};
    return kTitles[column];
}

Expected<void> RunsList::read()
{
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(HistoryStore::default_file()));
    all_.clear();
    if (store) {
        FOURFOLD_TRY(all_, store->list());
    }
    return arrange();
}

Expected<void> RunsList::set_filter(const std::string& filter)
{
    const std::string before = std::exchange(filter_, filter);
    Expected<void> outcome = arrange();
    if (!outcome)
        filter_ = before;
    return outcome;
}

void RunsList::sort(int column, bool falling)
{
    sort_column_ = std::clamp(column, 0, columns - 1);
    falling_ = falling;
    static_cast<void>(arrange());
}

// Unknown values stay at the end in both directions.
Expected<void> RunsList::arrange()
{
    FOURFOLD_TRY(std::vector<RunSummary> runs, filtered_runs(all_, filter_, "filter"));
    const bool by_number = is_number(sort_column_);
    std::stable_sort(runs.begin(), runs.end(), [&](const RunSummary& a, const RunSummary& b) {
        if (by_number) {
            const std::optional<double> x = number_of(a, sort_column_), y = number_of(b, sort_column_);
            if (!x || !y)
                return x.has_value() && !y.has_value();
            return falling_ ? *x > *y : *x < *y;
        }
        const std::string x = lower_case(sort_column_ == created ? a.created : words_of(a, sort_column_)),
                          y = lower_case(sort_column_ == created ? b.created : words_of(b, sort_column_));
        return falling_ ? x > y : x < y;
    });
    shown_ = std::move(runs);
    return {};
}

std::string RunsList::text(std::size_t row, int column) const
{
    const RunSummary& run = shown_[row];
    if (!is_number(column) || column == most_off)
        return printable(words_of(run, column));
    const std::optional<double> value = number_of(run, column);
    if (!value)
        return "";
    return column == error ? signed_percent(*value) : column == memory ? gib(*value) : throughput_text(*value);
}

Table RunsList::table() const
{
    return runs_table(shown_);
}

Expected<RunDetail> stored_run(const std::string& id)
{
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(HistoryStore::default_file()));
    if (!store)
        return Problem{ProblemCode::not_found, "the history holds no run yet", "start one in Runs", ""};
    return store->show(id);
}

std::string run_facts(const RunDetail& run)
{
    const RunSummary& s = run.summary;
    std::string text;
    const auto heading = [&](const char* words) { text += (text.empty() ? "# " : "\n# ") + std::string(words) + "\n"; };
    const auto add = [&](const char* fact, const std::string& value) {
        if (!value.empty())
            text += text_of("%-16s", fact) + printable(value, 1000) + "\n";
    };
    heading("Run");
    add("State", state_label(s.state));
    add("Problem", s.problem);
    add("Id", s.id);
    add("Name", s.name);
    if (!run.steps.empty())
        add("Last step", std::to_string(run.steps.back().step));
    heading("Predicted \u2192 measured");
    add("Throughput", beside(s.predicted_tps_per_gpu, s.measured_tps_per_gpu, throughput_text));
    if (s.tps_error)
        add("Error", signed_percent(*s.tps_error));
    add("Step time", beside(s.predicted_step_time_s, s.measured_step_time_s, duration));
    if (const std::optional<TermOff> term = term_most_off(run.plan, run.other_events))
        add("Most off",
            term->term + ": " + duration(term->predicted_s) + " \u2192 " + duration(term->measured_s) + " per stage");
    add("Memory, GiB", beside(s.predicted_memory_gib, s.measured_memory_gib, gib));
    add("Measured as", run.headline_rule);
    if (s.first_loss && s.last_loss)
        add("Loss", grouped(*s.first_loss, 3) + " \u2192 " + grouped(*s.last_loss, 3));
    heading("Plan");
    add("Model", s.model);
    add("Cluster", s.cluster);
    add("Layout", s.layout);
    add("Target", s.target);
    add("Hosts", joined(run.hosts, ", "));
    add("Tags", joined(s.tags, ", "));
    add("Note", s.note);
    if (const std::optional<RunFailure> failure = failure_of(run)) {
        heading("Failure");
        text += failure_text(*failure) + "\n";
    }
    return text;
}

HistoryStep delete_runs(const std::vector<std::string>& ids)
{
    const auto mark = [ids](bool deleted) {
        return with_store([ids, deleted](HistoryStore& store) { return store.set_deleted(ids, deleted); });
    };
    return {"Delete " + counted(double(ids.size()), "run"), mark(true), mark(false)};
}

HistoryStep change_tags(const RunSummary& run, const std::string& tags)
{
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= tags.size();) {
        const std::size_t end = std::min(tags.find(',', begin), tags.size());
        if (const std::string_view word = trimmed(std::string_view(tags).substr(begin, end - begin)); !word.empty())
            words.emplace_back(word);
        begin = end + 1;
    }
    const auto set = [id = run.id](const std::vector<std::string>& to) {
        return with_store([id, to](HistoryStore& store) { return store.set_tags(id, to); });
    };
    return {"Change tags", set(words), set(run.tags)};
}

HistoryStep change_note(const RunSummary& run, const std::string& note)
{
    const auto set = [id = run.id](const std::string& to) {
        return with_store([id, to](HistoryStore& store) { return store.set_note(id, to); });
    };
    return {"Change note", set(note), set(run.note)};
}

} // namespace fourfold::view
