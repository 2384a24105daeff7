// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/search/search_question.h"

#include "app/tui/pages/search/plan_expression.h"
#include "app/view/search/search_words.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/base/text.h"
#include "core/plan/fields.h"

#include <algorithm>
#include <charconv>

namespace fourfold::tui {

void SearchQuestion::ask_objective()
{
    std::vector<Picker::Item> items;
    for (const view::ObjectiveChoice& choice : view::objective_choices())
        items.push_back({choice.label, choice.field, [this, field = std::string(choice.field)] {
                             objective_ = field;
                             desk_.tell(desk_.keyed("`s` searches again"));
                         }});
    desk_.open(std::make_unique<Picker>("Best by", std::move(items)));
}

void SearchQuestion::ask_gpus()
{
    const std::string now = (gpus_ > 0 ? std::to_string(gpus_) : std::string()) + (up_to_ ? " and fewer" : "");
    auto prompt = std::make_unique<Prompt>("GPUs to search for", now, [this](const std::string& text) -> std::string {
        std::string_view word = trimmed(text);
        const bool up_to = word.ends_with("and fewer") || word.starts_with("<=");
        if (word.starts_with("<="))
            word.remove_prefix(2);
        word = trimmed(word.substr(0, word.find("and")));
        int count = 0;
        if (!word.empty()) {
            const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), count);
            if (bad != std::errc() || end != word.data() + word.size() || count < 1 || count > kMaxGpus)
                return "expected a number of GPUs from 1 to " + view::grouped(kMaxGpus) + ", or nothing for the plan's";
        }
        gpus_ = count;
        up_to_ = up_to;
        return {};
    });
    prompt->replaces().explain("64, or 64 and fewer; empty: the plan's");
    desk_.open(std::move(prompt));
}

void SearchQuestion::ask_constraint()
{
    ask_for_expression(
        desk_, "What must hold", constraint_, [this](const std::string& text, const auto&) { constraint_ = text; });
}

void SearchQuestion::turn_refused()
{
    shows_refused_ = !shows_refused_;
    desk_.tell(shows_refused_ ? "Shows what the software would stop at" : "Hides what the software would stop at");
}

Expected<SearchRequest> SearchQuestion::request(const ResolvedPlan& plan) const
{
    FOURFOLD_TRY(std::optional<Expression> constraint, plan_expression(constraint_));
    const int gpus = gpus_ > 0 ? gpus_ : plan.gpus;
    return view::search_request(desk_.plan().state().plan(), plan,
        {up_to_ ? gpu_counts(plan.cluster, gpus) : std::vector<int>{gpus}, objective_, std::move(constraint),
            shows_refused_});
}

std::string SearchQuestion::objective_text() const
{
    return std::ranges::find(view::objective_choices(), objective_, &view::ObjectiveChoice::field)->label;
}

int SearchQuestion::gpus() const
{
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().last_resolved();
    return gpus_ > 0 ? gpus_ : plan ? plan->gpus : 0;
}

std::string SearchQuestion::gpus_text() const
{
    return view::counted(gpus(), "GPU") + (up_to_ ? " and fewer" : "");
}

std::string SearchQuestion::said() const
{
    return "Best by " + objective_text() + ", on " + gpus_text() + ", where " + constraint_text();
}

void SearchQuestion::draw(Canvas& canvas, const Rect& line) const
{
    int column = canvas.text(line.row, line.column + 1, desk_.keyed("`b`"), kHeading);
    column = canvas.text(line.row, column, " best by ", kMuted);
    column = canvas.text(line.row, column, objective_text(), kBold);
    column = canvas.text(line.row, column, desk_.keyed("  `n`"), kHeading);
    column = canvas.text(line.row, column, " on ", kMuted);
    column = canvas.text(line.row, column, gpus_text(), kBold);
    column = canvas.text(line.row, column, desk_.keyed("  `c`"), kHeading);
    column = canvas.text(line.row, column, " where ", kMuted);
    canvas.text_in(line.row, column, line.columns - column - 1, constraint_text(), kBold);
}

std::vector<std::string> SearchQuestion::arguments() const
{
    std::vector<std::string> arguments;
    if (gpus_ > 0 || up_to_)
        arguments = {up_to_ ? "--max-gpus" : "--gpus", std::to_string(gpus())};
    arguments.insert(arguments.end(), {"--objective", objective_});
    if (!constraint_.empty())
        arguments.insert(arguments.end(), {"--constraint", constraint_});
    return arguments;
}

Json SearchQuestion::state() const
{
    return {{"objective", objective_}, {"constraint", constraint_}, {"gpus", gpus_}, {"up_to", up_to_},
        {"shows_refused", shows_refused_}};
}

void SearchQuestion::restore(const Json& state)
{
    const std::string objective = member_or(state, "objective", std::string());
    for (const view::ObjectiveChoice& choice : view::objective_choices()) {
        if (objective == choice.field)
            objective_ = objective;
    }
    constraint_ = member_or(state, "constraint", std::string());
    if (!plan_expression(constraint_)) // of fields that this version does not have
        constraint_.clear();
    gpus_ = std::clamp(member_or(state, "gpus", 0), 0, kMaxGpus);
    up_to_ = member_or(state, "up_to", false);
    shows_refused_ = member_or(state, "shows_refused", false);
}

} // namespace fourfold::tui
