// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/history/run_facts.h"

#include "app/view/runs/run_failure.h"
#include "app/view/runs/run_setup.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/plan/fields.h"
#include "core/predict/term_off.h"

#include <algorithm>

namespace fourfold::view {

namespace {
constexpr const char* kArrow = " \u2192 ";

class Facts {
public:
    void heading(const std::string& text) { all.push_back({text, {}, true}); }
    // Without a value it is left out.
    void add(const std::string& fact, const std::string& value)
    {
        if (!value.empty())
            all.push_back({fact, value, false});
    }
    void add_beside(const std::string& fact, const std::optional<double>& predicted,
        const std::optional<double>& measured, std::string (*format)(double))
    {
        const auto text = [format](const std::optional<double>& value) { return value ? format(*value) : kUnknown; };
        if (predicted || measured)
            add(fact, text(predicted) + kArrow + text(measured));
    }
    // One level deep; what lies deeper is shown as JSON text.
    void add_json(const std::string& title, const Json& object)
    {
        const auto text = [](const Json& value) {
            return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
        };
        if (!object.is_object() || object.empty())
            return;
        heading(title);
        for (const auto& [key, value] : object.items()) {
            if (!value.is_object()) {
                add(key, text(value));
                continue;
            }
            for (const auto& [inner, inner_value] : value.items())
                add(key + ' ' + inner, text(inner_value));
        }
    }

    std::vector<RunFact> all;
};

// How it ended and how far it came; of a failure also what the first rank told.
void add_end(Facts& facts, const RunDetail& run)
{
    const RunSummary& s = run.summary;
    facts.heading("Run");
    facts.add("State", state_label(s.state));
    facts.add("Problem", s.problem);
    if (const std::optional<RunFailure> failure = failure_of(run)) {
        facts.add("First to fail", failure_lines(*failure).front());
        facts.add("In the mesh", failure->mesh);
        facts.add("Last collective", failure->collective);
    }
    if (run.steps.empty())
        return;
    const StepRow& last = run.steps.back();
    // Of a run that ended before its time it matters how far it was.
    const Json planned = s.state == RunState::ok ? Json() : value_at(run.plan, "run.steps");
    std::vector<std::string> parts{std::to_string(last.step)};
    if (planned.is_number())
        parts.front() += " of " + std::to_string(planned.get<int>());
    if (last.loss)
        parts.push_back("loss " + grouped(*last.loss, 3));
    if (last.tps_per_gpu)
        parts.push_back(throughput_text(*last.tps_per_gpu) + " TPS/GPU");
    if (last.memory_peak_gib)
        parts.push_back(gib(*last.memory_peak_gib) + " GiB");
    facts.add("Last step", joined(parts, ", "));
}

void add_outcome(Facts& facts, const RunDetail& run)
{
    const RunSummary& s = run.summary;
    facts.heading(std::string("Predicted") + kArrow + "measured");
    facts.add_beside("Throughput", s.predicted_tps_per_gpu, s.measured_tps_per_gpu, throughput_text);
    if (s.tps_error)
        facts.add("Error", signed_percent(*s.tps_error));
    facts.add_beside("Step time", s.predicted_step_time_s, s.measured_step_time_s, duration);
    if (const std::optional<TermOff> term = term_most_off(run.plan, run.other_events))
        facts.add("Most off",
            term->term + ": " + duration(term->predicted_s) + kArrow + duration(term->measured_s) + " per stage");
    facts.add_beside("Memory, GiB", s.predicted_memory_gib, s.measured_memory_gib, gib);
    if (run.allocated_gib && run.reserved_gib)
        facts.add("Allocated", gib(*run.allocated_gib) + " GiB, reserved " + gib(*run.reserved_gib) + " GiB");
    facts.add("Measured as", run.headline_rule);
    if (run.tps_spread)
        facts.add("Spread", percent(*run.tps_spread) + " % of the median");
    if (s.first_loss && s.last_loss)
        facts.add("Loss", grouped(*s.first_loss, 3) + kArrow + grouped(*s.last_loss, 3));
    if (s.eval_loss)
        facts.add("Held-out loss", grouped(*s.eval_loss, 3));
}
} // namespace

std::vector<RunFact> run_facts(const RunDetail& run)
{
    Facts facts;
    add_end(facts, run);
    add_outcome(facts, run);
    facts.heading("Plan");
    facts.add("Model", run.summary.model);
    facts.add("Cluster", run.summary.cluster);
    facts.add("Layout", run.summary.layout);
    facts.add("Target", run.summary.target);
    facts.add("Hosts", joined(run.hosts, ", "));
    facts.add("Run id", run.summary.id);
    facts.add_json("Versions and hardware", run.versions);
    facts.add_json("Environment", run.environment);
    return std::move(facts.all);
}

std::string run_facts_text(const RunDetail& run)
{
    std::vector<RunFact> facts = run_facts(run);
    if (!run.summary.tags.empty() || !run.summary.note.empty())
        facts.push_back({"Words", {}, true});
    if (!run.summary.tags.empty())
        facts.push_back({"Tags", joined(run.summary.tags, ", ")});
    if (!run.summary.note.empty())
        facts.push_back({"Note", run.summary.note});
    std::string text;
    for (const RunFact& fact : facts) {
        if (fact.is_heading)
            text += (text.empty() ? "# " : "\n# ") + fact.fact + "\n";
        else
            text += text_of("%-16s", fact.fact.c_str()) + ' ' + printable(fact.value, 1000) + "\n";
    }
    if (const std::optional<RunFailure> failure = failure_of(run))
        text += "\n# Failure\n" + failure_text(*failure) + "\n";
    return text;
}

std::string told_apart(const std::string& name, const std::string& id)
{
    constexpr std::size_t kTail = 6;
    return name + " \u00b7 " + id.substr(id.size() - std::min(kTail, id.size()));
}

} // namespace fourfold::view
