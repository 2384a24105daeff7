// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/run_question.h"

#include "app/tui/cluster_form.h"
#include "app/view/plan/facts.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/base/text.h"

#include <algorithm>
#include <charconv>

namespace fourfold::tui {

std::string RunQuestion::target_text() const
{
    return target_ == "local" ? "this computer" : target_;
}

std::string RunQuestion::steps_text() const
{
    return steps_ > 0 ? view::counted(steps_, "step") : "the plan's steps";
}

void RunQuestion::ask_target()
{
    std::vector<Picker::Item> items{{"this computer", "local", [this] { target_ = "local"; }}};
    for (const std::string& id : desk_.presets().ids("targets")) {
        if (id != "local")
            items.push_back({id, "target", [this, id] { target_ = id; }});
    }
    items.push_back({"Find a cluster...", "a host, an SSH alias, a login of Slurm", [this] { find_cluster(); }});
    items.push_back({"Hosts...", "user@host1,host2", [this] {
                         auto prompt = std::make_unique<Prompt>("Hosts", "", [this](const std::string& text) {
                             const Expected<Target> target = load_target(std::string(trimmed(text)));
                             if (target)
                                 target_ = trimmed(text);
                             return target ? std::string() : target.error().line();
                         });
                         prompt->explain("user@host1,host2:2222,node[01-16], or the file of a target");
                         desk_.open(std::move(prompt));
                     }});
    desk_.open(std::make_unique<Picker>("Run on", std::move(items)));
}

void RunQuestion::find_cluster()
{
    desk_.open(std::make_unique<ClusterForm>(desk_, [this](const std::string& target) { target_ = target; }));
}

void RunQuestion::ask_steps()
{
    auto prompt
        = std::make_unique<Prompt>("Steps", steps_ > 0 ? std::to_string(steps_) : "", [this](const std::string& text) {
              const std::string_view word = trimmed(text);
              int steps = 0;
              const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), steps);
              if (!word.empty() && (bad != std::errc() || end != word.data() + word.size() || steps < 1))
                  return std::string("expected a number of steps, or nothing for the plan's");
              steps_ = steps;
              return std::string();
          });
    prompt->replaces().explain("Empty: as the plan says");
    desk_.open(std::move(prompt));
}

bool RunQuestion::key(const Key& key)
{
    if (key.is('t'))
        ask_target();
    else if (key.is('n'))
        ask_steps();
    else if (key.is('F'))
        find_cluster();
    else if (key.is('p')) {
        rehearses_ = !rehearses_;
        desk_.tell(rehearses_ ? "Runs are rehearsed before they start" : view::kUnrehearsed);
    } else
        return false;
    return true;
}

std::optional<view::RunSetup> RunQuestion::set_up()
{
    const view::PlanState& state = desk_.plan().state();
    view::RunSetup setup
        = view::prepare_run(state.plan(), state.presets(), target_, steps_ > 0 ? std::optional(steps_) : std::nullopt);
    if (!rehearses_)
        view::leave_out_rehearsal(setup);
    if (setup.request)
        return setup;
    desk_.tell(
        setup.refusal + (setup.refused_field.empty() ? "" : desk_.keyed("; `1` `E` reaches ") + setup.refused_field),
        view::Tone::bad);
    return {};
}

void RunQuestion::draw(Canvas& canvas, const Rect& line) const
{
    int column = canvas.text(line.row, line.column + 1, desk_.keyed("`t`"), kHeading);
    column = canvas.text(line.row, column, " on ", kMuted);
    column = canvas.text(line.row, column, target_text(), kBold);
    column = canvas.text(line.row, column, desk_.keyed("  `n`"), kHeading);
    column = canvas.text(line.row, column, " for ", kMuted);
    column = canvas.text(line.row, column, steps_text(), kBold);
    column = canvas.text(line.row, column, desk_.keyed("  `p`"), kHeading);
    column = canvas.text(line.row, column, rehearses_ ? " rehearsed first" : " not rehearsed", kMuted);
    if (const std::optional<ResolvedPlan>& plan = desk_.plan().state().resolved())
        canvas.text_in(line.row, column + 2, line.columns - column - 3,
            plan->model.name + ", " + view::layout_line(plan->layout), kMuted);
}

std::vector<std::string> RunQuestion::lines() const
{
    std::vector<std::string> lines{
        "On " + target_text() + ", for " + steps_text() + desk_.keyed("; `t` and `n` change it, `s` starts a run"),
        (rehearses_ ? std::string("Rehearsed before it starts") : view::kUnrehearsed)
            + desk_.keyed("; `p` changes it")};
    if (const std::optional<ResolvedPlan>& plan = desk_.plan().state().resolved())
        lines.push_back(plan->model.name + ", " + view::layout_line(plan->layout));
    return lines;
}

std::vector<std::string> RunQuestion::arguments() const
{
    std::vector<std::string> arguments{"--target", target_};
    if (steps_ > 0)
        arguments.insert(arguments.end(), {"--steps", std::to_string(steps_)});
    if (!rehearses_)
        arguments.emplace_back("--no-rehearse");
    return arguments;
}

Json RunQuestion::state() const
{
    return {{"target", target_}, {"steps", steps_}};
}

void RunQuestion::restore(const Json& state)
{
    target_ = member_or(state, "target", target_);
    steps_ = std::max(0, member_or(state, "steps", 0));
}

} // namespace fourfold::tui
