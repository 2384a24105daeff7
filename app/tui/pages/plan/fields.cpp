// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/plan/fields.h"

#include "app/view/plan/any_field.h"
#include "app/view/plan/choices.h"
#include "app/view/plan/facts.h"
#include "app/view/plan/steps.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/plan/fields.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
using Kind = PlanInput::Kind;
using Resolved = const ResolvedPlan&;

std::string yes_or_no(bool value)
{
    return value ? "yes" : "no";
}
// What is left for a degree beside the others; 0 where they do not divide the GPUs.
int left_beside(int gpus, int others)
{
    return others > 0 && gpus % others == 0 ? gpus / others : 0;
}
std::string choice_of(const char* path, const std::string& spelling)
{
    return view::short_choice_label(path, spelling);
}

const PlanInput kInputs[]{{Kind::heading, "Model", "", nullptr, view::parameters_fact},
    {Kind::preset, "Preset", "model",
        [](Resolved p) { return p.model.name.empty() ? p.model.model_type : p.model.name; }},
    {Kind::number, "Sequence", "training.seq_len", [](Resolved p) { return view::grouped(p.training.seq_len); },
        [](Resolved) { return std::string("tokens"); }},
    {Kind::heading, "Hardware", "", nullptr, view::nodes_fact},
    {Kind::preset, "Cluster", "cluster",
        [](Resolved p) { return p.cluster.name.empty() ? std::string("its own") : p.cluster.name; }},
    {Kind::number, "GPUs", "gpus", [](Resolved p) { return view::grouped(p.gpus); },
        [](Resolved p) { return p.cluster.gpu.name; }},
    {Kind::preset, "Stack", "stack", [](Resolved p) { return p.stack.full_name(); }},
    {Kind::heading, "Layout", "", nullptr, view::product_fact},
    {Kind::number, "Tensor (TP)", "layout.tp", [](Resolved p) { return view::grouped(p.layout.tp); }, view::tensor_fact,
        [](Resolved p) { return left_beside(p.gpus, p.layout.cp * p.layout.pp); }},
    {Kind::number, "Context (CP)", "layout.cp", [](Resolved p) { return view::grouped(p.layout.cp); },
        view::context_fact, [](Resolved p) { return left_beside(p.gpus, p.layout.tp * p.layout.pp); }},
    {Kind::number, "Pipeline (PP)", "layout.pp", [](Resolved p) { return view::grouped(p.layout.pp); },
        view::pipeline_fact, [](Resolved p) { return left_beside(p.gpus, p.layout.tp * p.layout.cp); }},
    {Kind::number, "Data (DP)", "layout.dp", [](Resolved p) { return view::grouped(p.layout.dp); }, view::data_fact,
        [](Resolved p) { return p.gpus; }},
    {Kind::number, "Expert (EP)", "layout.ep", [](Resolved p) { return view::grouped(p.layout.ep); }, view::expert_fact,
        [](Resolved p) { return p.model.experts ? static_cast<int>(p.model.experts->count) : 1; },
        [](Resolved p) { return p.model.experts.has_value(); }},
    {Kind::number, "Virtual stages", "layout.virtual_stages",
        [](Resolved p) { return view::grouped(p.layout.virtual_stages); }},
    {Kind::heading, "Batch", "", nullptr, view::tokens_fact},
    {Kind::number, "Micro-batch", "training.micro_batch",
        [](Resolved p) { return view::grouped(p.training.micro_batch); },
        [](Resolved) { return std::string("sequences"); }},
    {Kind::number, "Global batch", "training.global_batch",
        [](Resolved p) { return view::grouped(p.training.global_batch); },
        [](Resolved) { return std::string("sequences"); }},
    {Kind::choice, "Schedule", "training.schedule",
        [](Resolved p) { return choice_of("training.schedule", schedule_name(p.training)); }},
    {Kind::choice, "Sharding", "training.sharding",
        [](Resolved p) { return choice_of("training.sharding", to_text(p.training.sharding)); }},
    {Kind::choice, "Recompute", "training.recompute",
        [](Resolved p) { return choice_of("training.recompute", to_text(p.training.recompute)); }},
    {Kind::choice, "Precision", "training.precision",
        [](Resolved p) { return choice_of("training.precision", to_text(p.training.precision)); }},
    {Kind::toggle, "Seq. parallel", "training.sequence_parallel",
        [](Resolved p) { return yes_or_no(p.training.sequence_parallel); }},
    {Kind::toggle, "Compiled", "training.compile", [](Resolved p) { return yes_or_no(p.training.compile); }},
    {Kind::toggle, "Async. TP", "training.async_tp", [](Resolved p) { return yes_or_no(p.training.async_tp); }}};

// The value as it is written: of what is not, as it resolves.
Json resolved_value(const ResolvedPlan& plan, const std::string& path)
{
    return value_at(to_json(plan, PresetStyle::ids), path);
}

std::string folder_of(const PlanInput& input)
{
    return std::string(input.path) + "s";
}

std::string preset_name(const Presets& presets, const std::string& folder, const std::string& id)
{
    const auto named = [&](const auto& preset) { return preset && !preset->name.empty() ? preset->name : id; };
    if (folder == "stacks") {
        const auto stack = presets.stack(id);
        return stack ? stack->full_name() : id;
    }
    return folder == "models" ? named(presets.model(id)) : named(presets.cluster(id));
}

void pick_preset(Desk& desk, const PlanInput& input)
{
    const std::string folder = folder_of(input), path = input.path;
    const Json now = value_at(desk.plan().state().plan().document, path);
    std::vector<Picker::Item> items;
    int selected = 0;
    for (const std::string& id : view::preset_choices(desk.presets(), folder)) {
        if (now == id)
            selected = static_cast<int>(items.size());
        items.push_back({preset_name(desk.presets(), folder, id), id, [&desk, path, id] { desk.change(path, id); }});
    }
    if (folder == "models")
        items.push_back({"A config.json...", "Hugging Face", [&desk] { desk.files().ask_to_import_model(); }});
    desk.open(std::make_unique<Picker>(input.label, std::move(items), selected));
}

void pick_choice(
    Desk& desk, const std::string& label, const std::string& path, const std::vector<view::Choice>& choices)
{
    const Json now = desk.plan().state().resolved() ? resolved_value(*desk.plan().state().resolved(), path) : Json();
    std::vector<Picker::Item> items;
    int selected = 0;
    for (const view::Choice& choice : choices) {
        if (now == choice.spelling)
            selected = static_cast<int>(items.size());
        items.push_back({choice.label, choice.spelling == choice.label ? "" : choice.spelling,
            [&desk, path, spelling = choice.spelling] { desk.change(path, spelling); }});
    }
    desk.open(std::make_unique<Picker>(label, std::move(items), selected));
}

// A line whose text becomes the field's value; empty: the default again.
void type_value(
    Desk& desk, const std::string& label, const std::string& path, const std::string& now, const std::string& help)
{
    auto prompt = std::make_unique<Prompt>(label, now, [&desk, path](const std::string& text) -> std::string {
        const Expected<Plan> changed = view::with_any_field(desk.plan().state().plan(), path, text);
        if (!changed)
            return changed.error().line();
        if (find_field(path) != nullptr)
            desk.change(path, value_at(changed->document, path));
        else // of an entry of a list
            desk.apply("Change " + path, changed);
        return {};
    });
    prompt->replaces().explain(help.empty() ? "Empty: the default again" : help + ". Empty: the default again");
    desk.open(std::move(prompt));
}
} // namespace

std::vector<const PlanInput*> plan_inputs(const ResolvedPlan& plan)
{
    std::vector<const PlanInput*> inputs;
    for (const PlanInput& input : kInputs) {
        if (input.shown == nullptr || input.shown(plan))
            inputs.push_back(&input);
    }
    return inputs;
}

void step_input(Desk& desk, const PlanInput& input, int steps)
{
    const std::optional<ResolvedPlan>& plan = desk.plan().state().last_resolved();
    if (!plan)
        return;
    const Json now = resolved_value(*plan, input.path);
    // Of several words the neighbour, at the ends the other one.
    const auto neighbour = [steps](const std::vector<std::string>& words, const std::string& word) {
        const auto at = std::find(words.begin(), words.end(), word);
        const auto count = static_cast<int>(words.size());
        const int index = at == words.end() ? 0 : static_cast<int>(at - words.begin()) + steps;
        return words[static_cast<std::size_t>((index % count + count) % count)];
    };
    switch (input.kind) {
    case Kind::number: {
        const int dividend = input.dividend == nullptr ? 0 : input.dividend(*plan);
        if (now.is_number())
            desk.change(input.path, view::stepped_degree(now.get<int>(), steps, dividend));
        break;
    }
    case Kind::choice: {
        std::vector<std::string> words;
        for (const view::Choice& choice : view::choices_of(input.path))
            words.push_back(choice.spelling);
        desk.change(input.path, neighbour(words, now.is_string() ? now.get<std::string>() : ""));
        break;
    }
    case Kind::toggle:
        desk.change(input.path, !(now.is_boolean() && now.get<bool>()));
        break;
    case Kind::preset: {
        const std::vector<std::string> ids = view::preset_choices(desk.presets(), folder_of(input));
        const Json& written = value_at(desk.plan().state().plan().document, input.path);
        const Json& id = written.is_string() ? written : now;
        if (!ids.empty())
            desk.change(input.path, neighbour(ids, id.is_string() ? id.get<std::string>() : ""));
        break;
    }
    case Kind::heading:
        break;
    }
}

void edit_input(Desk& desk, const PlanInput& input)
{
    const std::optional<ResolvedPlan>& plan = desk.plan().state().last_resolved();
    switch (input.kind) {
    case Kind::preset:
        pick_preset(desk, input);
        break;
    case Kind::choice:
        pick_choice(desk, input.label, input.path, view::choices_of(input.path));
        break;
    case Kind::toggle:
        step_input(desk, input, 1);
        break;
    case Kind::number: {
        const Json now = plan ? resolved_value(*plan, input.path) : Json();
        const Field* field = find_field(input.path);
        type_value(
            desk, input.label, input.path, now.is_number() ? now.dump() : "", field == nullptr ? "" : field->help);
        break;
    }
    case Kind::heading:
        break;
    }
}

void edit_any_field(Desk& desk)
{
    std::vector<Picker::Item> items;
    const view::PlanState& state = desk.plan().state();
    for (const view::AnyField& field :
        view::any_fields(state.plan(), state.resolved() ? &*state.resolved() : nullptr)) {
        if (field.path.starts_with("cluster.")) // below, also of a preset
            continue;
        items.push_back({field.path, field.help, [&desk, field] {
                             std::vector<view::Choice> words;
                             for (const std::string& choice : field.choices)
                                 words.push_back({choice, choice});
                             if (words.empty())
                                 type_value(desk, field.path, field.path, field.written, field.help);
                             else
                                 pick_choice(desk, field.path, field.path, words);
                         }});
    }
    std::ranges::move(preset_fields(desk), std::back_inserter(items));
    desk.open(std::make_unique<Picker>("Any field of the plan", std::move(items)));
}

bool change_by_line(Desk& desk, const std::string& line)
{
    const std::size_t at = line.find_last_of(" =");
    if (!desk.plan().state().last_resolved() || at == std::string::npos)
        return false;
    const std::string field = lower_case(trimmed(line.substr(0, at), " =")), value = line.substr(at + 1);
    for (const PlanInput* input : plan_inputs(*desk.plan().state().last_resolved())) {
        const std::string path = input->path, label = lower_case(input->label);
        if (path.empty() || (field != path && field != path.substr(path.find('.') + 1) && field != label))
            continue;
        const Expected<Json> json = parse_json(value, field); // a number, true, "text"; else the text as it is
        desk.change(path, json ? *json : Json(value));
        return true;
    }
    return false;
}

} // namespace fourfold::tui
