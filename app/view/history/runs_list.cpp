// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/history/runs_list.h"

#include "app/view/runs/run_setup.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/report/views/runs_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace fourfold::view {

namespace {
std::string created_text(const RunSummary& run)
{
    return local_time(run.created, "%Y-%m-%d %H:%M").value_or(run.created);
}

std::string error_text(double value)
{
    return signed_percent(value);
}

std::string loss_text(double value)
{
    return grouped(value, 3);
}

std::string count_text(double value)
{
    return grouped(value);
}

// A column says its text, and sorts by its number where it has one.
struct RunFigure {
    const char* title;
    std::string (*text)(const RunSummary& run) = nullptr;
    std::optional<double> (*number)(const RunSummary& run) = nullptr;
    std::string (*format)(double value) = nullptr; // of the number, where there is no text
};

template <auto Member>
std::optional<double> number_of(const RunSummary& run)
{
    return run.*Member;
}

// In the order of the columns.
const RunFigure kFigures[RunsList::columns]{{"Run", [](const RunSummary& run) { return run.name; }},
    {"Model", [](const RunSummary& run) { return run.model; }},
    {"State", [](const RunSummary& run) { return std::string(state_label(run.state)); }},
    {"Target", [](const RunSummary& run) { return run.target; }},
    {"Layout", [](const RunSummary& run) { return run.layout; }},
    {"GPUs", nullptr, number_of<&RunSummary::gpus>, count_text},
    {"Steps", nullptr, number_of<&RunSummary::steps>, count_text},
    {"Predicted\nTPS/GPU", nullptr, number_of<&RunSummary::predicted_tps_per_gpu>, throughput_text},
    {"Measured\nTPS/GPU", nullptr, number_of<&RunSummary::measured_tps_per_gpu>, throughput_text},
    {"Error", nullptr, number_of<&RunSummary::tps_error>, error_text},
    // The words as they are read, the seconds without their sign.
    {"Most off", most_off_text,
        [](const RunSummary& run) {
            return run.most_off ? std::optional(std::abs(run.most_off->difference_s())) : std::nullopt;
        }},
    {"Predicted\nGiB", nullptr, number_of<&RunSummary::predicted_memory_gib>, gib},
    {"Measured\nGiB", nullptr, number_of<&RunSummary::measured_memory_gib>, gib},
    {"Loss", nullptr, number_of<&RunSummary::last_loss>, loss_text},
    {"Tags", [](const RunSummary& run) { return tag_text(run.tags); }}, {"Date", created_text}};

std::vector<std::string> words_of(const std::string& text)
{
    std::istringstream stream(lower_case(text));
    return {std::istream_iterator<std::string>(stream), {}};
}
} // namespace

std::string tag_text(const std::vector<std::string>& tags)
{
    return joined(tags, ", ");
}

std::vector<std::string> tags_of(const std::string& text)
{
    std::vector<std::string> tags;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');) {
        std::istringstream in(part); // inner spaces become one
        if (const std::string tag
            = joined({std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()}, " ");
            !tag.empty())
            tags.push_back(tag);
    }
    return tags;
}

const char* RunsList::title(int column)
{
    return kFigures[column].title;
}

const char* RunsList::about(int column)
{
    switch (column) {
    case measured_tps:
        return "Median of the steps after the warm-up";
    case tps_error:
        return "Predicted over measured tokens/s, less one: +10 % was predicted faster than it ran";
    case most_off:
        return "The part of a traced step whose time is furthest from its prediction";
    case predicted_memory:
    case measured_memory:
        return "Peak of the fullest GPU, as the software reports it";
    case loss:
        return "Of the last step";
    default:
        return "";
    }
}

bool RunsList::is_number(int column)
{
    return kFigures[column].format != nullptr;
}

std::string RunsList::text(const RunSummary& run, int column)
{
    const RunFigure& figure = kFigures[column];
    if (figure.text)
        return printable(figure.text(run));
    const std::optional<double> value = figure.number(run);
    return value ? figure.format(*value) : std::string();
}

std::optional<double> RunsList::number(const RunSummary& run, int column)
{
    return kFigures[column].number ? kFigures[column].number(run) : std::nullopt;
}

std::string RunsList::tip(const RunSummary& run, int column)
{
    switch (column) {
    case name:
        return run.name + "\n" + run.id;
    case state:
        return run.problem;
    case most_off:
        return run.most_off ? run.most_off->term + " per stage: " + duration(run.most_off->predicted_s) + " predicted, "
                + duration(run.most_off->measured_s) + " measured in the traced step"
                            : "";
    case tags:
        return run.note;
    default:
        return {};
    }
}

void RunsList::show(std::vector<RunSummary> runs)
{
    runs_ = std::move(runs);
    fields_ = RunFields(runs_);
    expression_.reset();
    haystacks_.clear();
    haystacks_.reserve(runs_.size());
    for (const RunSummary& run : runs_) // as the list shows it, and as the command line knows it
        haystacks_.push_back(
            lower_case(std::string(state_label(run.state)) + "\n" + created_text(run)) + "\n" + words_of_run(run));
    arrange();
}

void RunsList::set_words(const std::string& words)
{
    expression_.reset();
    words_ = words_of(words);
    arrange();
}

void RunsList::set_expression(const Expression& expression)
{
    words_.clear();
    expression_ = expression;
    arrange();
}

Expected<void> RunsList::set_filter(const std::string& text)
{
    if (!is_run_expression(text)) {
        set_words(text);
        return {};
    }
    FOURFOLD_TRY(const Expression expression, parse_expression(text, ValueKind::truth, fields(), "filter"));
    set_expression(expression);
    return {};
}

void RunsList::sort(int column, bool falling)
{
    if (column < 0 || column >= columns)
        return;
    sort_column_ = column;
    falling_ = falling;
    arrange();
}

// Unknown values stay at the end in both directions.
void RunsList::arrange()
{
    const bool by_number = kFigures[sort_column_].number != nullptr;
    std::vector<std::optional<double>> numbers(runs_.size());
    std::vector<std::string> texts(by_number ? 0 : runs_.size());
    visible_.clear();
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const bool holds = expression_ ? expression_->holds(fields_.values(runs_[i]))
                                       : std::all_of(words_.begin(), words_.end(), [&](const std::string& word) {
                                             return haystacks_[i].find(word) != std::string::npos;
                                         });
        if (!holds)
            continue;
        visible_.push_back(i);
        if (by_number)
            numbers[i] = number(runs_[i], sort_column_);
        else
            texts[i] = sort_column_ == created ? runs_[i].created : lower_case(text(runs_[i], sort_column_));
    }
    std::stable_sort(visible_.begin(), visible_.end(), [&](std::size_t a, std::size_t b) {
        if (!by_number)
            return falling_ ? texts[a] > texts[b] : texts[a] < texts[b];
        if (!numbers[a] || !numbers[b])
            return numbers[a].has_value() && !numbers[b].has_value();
        return falling_ ? *numbers[a] > *numbers[b] : *numbers[a] < *numbers[b];
    });
}

Table RunsList::table() const
{
    std::vector<RunSummary> shown;
    shown.reserve(visible_.size());
    for (const std::size_t place : visible_)
        shown.push_back(runs_[place]);
    return runs_table(shown);
}

} // namespace fourfold::view
