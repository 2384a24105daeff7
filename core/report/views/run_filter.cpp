// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/views/run_filter.h"

#include "core/expression/expression.h"
#include "core/history/run_state.h"
#include "core/report/views/runs_table.h"
#include "core/stack/release.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <limits>
#include <set>
#include <sstream>

namespace fourfold {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// The number behind `key` in a layout's text, "tp2 cp1 pp1 dp8 mb1".
double degree(const RunSummary& run, const std::string& key)
{
    std::istringstream words(run.layout);
    for (std::string word; words >> word;) {
        int value = 0;
        const char* end = word.data() + word.size();
        if (word.starts_with(key) && std::from_chars(word.data() + key.size(), end, value).ptr == end)
            return value;
    }
    return kUnknown;
}

double or_unknown(const std::optional<double>& value)
{
    return value.value_or(kUnknown);
}

double memory_error(const RunSummary& run)
{
    return run.predicted_memory_gib && run.measured_memory_gib && *run.measured_memory_gib > 0
        ? *run.predicted_memory_gib / *run.measured_memory_gib - 1
        : kUnknown;
}

struct NumberField {
    const char* name;
    const char* unit;
    const char* meaning;
    std::vector<std::string> aliases;
    std::function<double(const RunSummary&)> value;
};

const std::vector<NumberField>& number_fields()
{
    using Run = const RunSummary&;
    static const std::vector<NumberField> fields{
        {"gpus", "", "ranks of the run", {}, [](Run run) { return double(run.gpus); }},
        {"tp", "", "tensor-parallel degree", {}, [](Run run) { return degree(run, "tp"); }},
        {"cp", "", "context-parallel degree", {}, [](Run run) { return degree(run, "cp"); }},
        {"pp", "", "pipeline stages", {}, [](Run run) { return degree(run, "pp"); }},
        {"dp", "", "data-parallel degree", {}, [](Run run) { return degree(run, "dp"); }},
        {"micro_batch", "sequences", "of one micro-batch", {}, [](Run run) { return degree(run, "mb"); }},
        {"steps", "", "received", {}, [](Run run) { return double(run.steps); }},
        {"predicted_tps_per_gpu", "tokens/s", "throughput per GPU", {},
            [](Run run) { return or_unknown(run.predicted_tps_per_gpu); }},
        {"measured_tps_per_gpu", "tokens/s", "throughput per GPU", {"tps_per_gpu"},
            [](Run run) { return or_unknown(run.measured_tps_per_gpu); }},
        {"tps_error", "share", "predicted / measured - 1 of the throughput", {"error"},
            [](Run run) { return or_unknown(run.tps_error); }},
        {"predicted_step_time_s", "s", "time of a step", {},
            [](Run run) { return or_unknown(run.predicted_step_time_s); }},
        {"measured_step_time_s", "s", "time of a step", {"step_time_s"},
            [](Run run) { return or_unknown(run.measured_step_time_s); }},
        {"predicted_memory_gib", "GiB", "largest stage", {},
            [](Run run) { return or_unknown(run.predicted_memory_gib); }},
        {"measured_memory_gib", "GiB", "largest rank", {"memory_gib"},
            [](Run run) { return or_unknown(run.measured_memory_gib); }},
        {"memory_error", "share", "predicted / measured - 1 of the memory", {}, memory_error},
        {"most_off_s", "s", "measured less predicted of the term most off", {},
            [](Run run) { return run.most_off ? run.most_off->difference_s() : kUnknown; }},
        {"first_loss", "", "of the first step", {}, [](Run run) { return or_unknown(run.first_loss); }},
        {"last_loss", "", "of the last step", {"loss"}, [](Run run) { return or_unknown(run.last_loss); }},
        {"eval_loss", "", "held-out", {}, [](Run run) { return or_unknown(run.eval_loss); }}};
    return fields;
}

struct TextField {
    const char* name;
    const char* meaning;
    std::function<std::string(const RunSummary&)> value;
};

const std::vector<TextField>& text_fields()
{
    using Run = const RunSummary&;
    static const std::vector<TextField> fields{
        {"state", "ok, fail, oom, cancelled ...", [](Run run) { return std::string(name(run.state)); }},
        {"model", "its name", [](Run run) { return run.model; }},
        {"cluster", "its name", [](Run run) { return run.cluster; }},
        {"stack", "the training software", [](Run run) { return written_stack(run.stack).id; }},
        {"release", "of the training software", [](Run run) { return written_stack(run.stack).release; }},
        {"target", "where it ran", [](Run run) { return run.target; }},
        {"most_off", "the term of a traced step furthest from its prediction",
            [](Run run) { return run.most_off ? run.most_off->term : std::string(); }}};
    return fields;
}

FieldSet fields_of(std::span<const RunSummary> runs)
{
    std::vector<ExpressionField> fields;
    for (const NumberField& field : number_fields())
        fields.push_back({field.name, ValueKind::number, field.unit, field.meaning, {}, field.aliases});
    for (const TextField& field : text_fields()) {
        std::set<std::string> values;
        if (std::string_view(field.name) == "state") // those that no run is in now may be asked for, too
            values.insert(kWords<RunState>.begin(), kWords<RunState>.end());
        for (const RunSummary& run : runs)
            values.insert(field.value(run));
        values.erase("");
        fields.push_back({field.name, ValueKind::text, "", field.meaning, {values.begin(), values.end()}, {}});
    }
    return FieldSet(std::move(fields));
}

} // namespace

RunFields::RunFields(std::span<const RunSummary> runs)
    : set_(fields_of(runs))
{
}

std::vector<double> RunFields::values(const RunSummary& run) const
{
    std::vector<double> values;
    for (const NumberField& field : number_fields())
        values.push_back(field.value(run));
    for (const TextField& field : text_fields()) {
        const std::vector<std::string>& spellings = set_.fields()[values.size()].spellings;
        const std::string text = field.value(run);
        const auto found = std::lower_bound(spellings.begin(), spellings.end(), text);
        values.push_back(found != spellings.end() && *found == text ? double(found - spellings.begin()) : kUnknown);
    }
    return values;
}

bool is_run_expression(const std::string& text)
{
    if (text.find_first_of("<>=!") != std::string::npos)
        return true;
    const std::string words = lower(text);
    const std::size_t in = words.find(" in ");
    return in != std::string::npos && words.find('(', in) != std::string::npos;
}

std::string words_of_run(const RunSummary& run)
{
    std::string all;
    for (const std::string& part : {run.name, std::string(name(run.state)), run.target, run.layout, most_off_text(run),
             run.created, run.id, run.model, run.cluster, run.stack, run.note})
        all += part + "\n";
    for (const std::string& tag : run.tags)
        all += tag + "\n";
    return lower(all + std::to_string(run.gpus) + " gpus");
}

Expected<std::vector<RunSummary>> filtered_runs(
    std::vector<RunSummary> runs, const std::string& filter, const std::string& where)
{
    if (!is_run_expression(filter)) {
        std::istringstream stream(lower(filter));
        std::vector<std::string> words;
        for (std::string word; stream >> word;)
            words.push_back(word);
        std::erase_if(runs, [&](const RunSummary& run) {
            const std::string all = words_of_run(run);
            return std::any_of(words.begin(), words.end(),
                [&](const std::string& word) { return all.find(word) == std::string::npos; });
        });
        return runs;
    }
    const RunFields fields(runs);
    FOURFOLD_TRY(const Expression expression, parse_expression(filter, ValueKind::truth, fields.set(), where));
    std::erase_if(runs, [&](const RunSummary& run) { return !expression.holds(fields.values(run)); });
    return runs;
}

} // namespace fourfold
