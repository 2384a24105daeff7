// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/search/search_page.h"

#include "app/tui/linear/spoken.h"
#include "app/tui/pages/compare/compare_page.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/facts.h"
#include "app/view/search/advice_finder.h"
#include "app/view/search/search_words.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/plan/fields.h"
#include "core/plan/plan_edit.h"
#include "core/report/views/obstacle.h"
#include "core/search/cures.h"
#include "core/search/search_cost.h"

#include <algorithm>
#include <charconv>

namespace fourfold::tui {

using view::Results;

namespace {
// Nothing of an empty text.
Expected<std::optional<Expression>> parsed(const std::string& text)
{
    if (trimmed(text).empty())
        return std::optional<Expression>();
    FOURFOLD_TRY(Expression expression, parse_expression(text, ValueKind::truth, plan_field_set(), "expression"));
    return std::optional(std::move(expression));
}

// What is wrong with an expression, in a line with its place.
std::string expression_problem(const std::string& text)
{
    const auto expression = parsed(text);
    return expression ? std::string() : expression.error().line();
}

std::optional<Expression> expression_of(const std::string& text)
{
    auto expression = parsed(text);
    return expression ? *std::move(expression) : std::nullopt;
}

// Whether a column begins with its largest value: less time, money and energy are better.
bool falls_first(int column)
{
    return column >= Results::throughput && !(column >= Results::step_time && column <= Results::energy);
}

// Figures before words: what has no room at the right can be done without for a moment.
constexpr int kOrder[]{Results::pin, Results::place, Results::gpus, Results::tp, Results::cp, Results::pp, Results::dp,
    Results::ep, Results::virtual_stages, Results::micro_batch, Results::throughput, Results::memory, Results::mfu,
    Results::against_plan, Results::step_time, Results::days, Results::schedule, Results::sharding, Results::recompute,
    Results::confidence, Results::cost, Results::energy};
static_assert(std::size(kOrder) == Results::columns);

Prompt::Offer plan_names(const std::string& text, std::size_t cursor)
{
    const Completions found = complete_expression(text, cursor, plan_field_set());
    return {found.begin, found.words};
}

constexpr const char* kExample = "For example tp <= 8 and memory_gib < 70 and recompute != full; `fourfold search "
                                 "--fields` lists the names";
} // namespace

SearchPage::SearchPage(Desk& desk, ComparePage& compare)
    : Page(desk)
    , compare_(compare)
    , cure_work_(desk.wake())
    , choice_({std::begin(kOrder), std::end(kOrder)}, Results::title)
    , views_(
          desk, view::kFoundTable, [this] { return as_view(); }, [this](const auto& kept) { return show_view(kept); })
{
}

view::SavedView SearchPage::as_view() const
{
    view::SavedView view = choice_.saved(results_.sort_column(), results_.is_falling());
    view.filter = filter_;
    view.front_only = results_.pareto_only();
    return view;
}

Expected<void> SearchPage::show_view(const view::SavedView& kept)
{
    FOURFOLD_TRY(std::optional<Expression> filter, parsed(kept.filter)); // another program may have written it
    choice_.show(kept);
    if (const std::optional<int> sorted = choice_.column_of(kept.sorted))
        results_.sort(*sorted, kept.falling);
    filter_ = trimmed(kept.filter);
    results_.set_filter(std::move(filter));
    results_.set_pareto_only(kept.front_only);
    return {};
}

// Of those that were chosen what tells layouts of this search apart.
std::vector<int> SearchPage::columns() const
{
    std::vector<int> columns = choice_.columns();
    std::erase_if(columns,
        [this](int column) { return (column == Results::gpus && one_size_) || (column == Results::ep && dense_); });
    return columns.empty() ? std::vector<int>{Results::place} : columns;
}

std::optional<std::size_t> SearchPage::chosen() const
{
    const auto row = static_cast<std::size_t>(table_.list.selected);
    return row < results_.visible().size() ? std::optional<std::size_t>(results_.visible()[row]) : std::nullopt;
}

void SearchPage::start()
{
    if (job_.is_running())
        return;
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().resolved();
    if (!plan) {
        desk_.tell(
            desk_.plan().state().problem() ? desk_.plan().state().problem()->line() : "There is no plan to search from",
            view::Tone::bad);
        return;
    }
    const int gpus = gpus_ > 0 ? gpus_ : plan->gpus;
    Expected<SearchRequest> request = view::search_request(desk_.plan().state().plan(), *plan,
        {up_to_ ? gpu_counts(plan->cluster, gpus) : std::vector<int>{gpus}, objective_, expression_of(constraint_),
            shows_refused_});
    if (!request) {
        desk_.tell(request.error().line(), view::Tone::bad);
        return;
    }
    one_size_ = request->space.gpus.size() == 1;
    dense_ = !plan->model.experts;
    results_.clear();
    results_.sort(Results::place);
    table_.list = {};
    cure_work_.cancel();
    cures_.clear();
    obstacle_.reset();
    kept_.reset();
    said_ = "Searching...";
    began_ = std::chrono::steady_clock::now();
    job_.start(*std::move(request), desk_.find);
    searched_ = &desk_.plan();
    compared_.reset();
    results_.set_plan_throughput({});
    compare_plan();
}

// The plan may be another one by now, or closed: plans of which the answer stays the same are not looked at again.
void SearchPage::compare_plan()
{
    if (!desk_.plans().has(searched_))
        searched_ = nullptr;
    std::shared_ptr<const Prediction> answer = searched_ && searched_->is_answered() ? searched_->prediction() : nullptr;
    if (answer == compared_)
        return;
    compared_ = std::move(answer);
    results_.set_plan_throughput(compared_
            ? view::throughput_to_beat(job_.request(), *searched_->state().resolved(), *compared_)
            : std::nullopt);
}

void SearchPage::tick()
{
    cure_work_.deliver();
    compare_plan();
    if (!job_.is_running())
        return;
    view::SearchJob::News news = job_.take();
    if (!news.rows.empty()) {
        kept_ = table_.list.selected > 0 ? chosen() : std::nullopt;
        results_.append(std::move(news.rows));
        if (kept_)
            table_.list.selected = std::max(0, results_.row_of(*kept_));
    }
    if (news.share) {
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
        said_ = view::search_progress_text(news.counts, seconds_left(*news.share, taken.count()));
    }
    if (news.result)
        finish(*news.result);
}

void SearchPage::finish(const SearchResult& result)
{
    results_.set_outcome(result.best, result.pareto);
    if (kept_)
        table_.list.selected = std::max(0, results_.row_of(*kept_));
    said_ = view::search_outcome_text(result);
    desk_.tell(said_);
    if (!result.best.empty() || result.cancelled)
        return;
    obstacle_ = obstacle(job_.request(), result);
    cure_work_.start([this, request = job_.request(), result](const std::stop_token& stop) -> view::Background::Done {
        std::vector<Advice> found = cures(request, result, 3, stop);
        return [this, found = std::move(found)] { cures_ = found; };
    });
}

std::string SearchPage::objective_text() const
{
    return std::ranges::find(view::objective_choices(), objective_, &view::ObjectiveChoice::field)->label;
}

std::string SearchPage::gpus_text() const
{
    return view::counted(gpus_of_question(), "GPU") + (up_to_ ? " and fewer" : "");
}

int SearchPage::gpus_of_question() const
{
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().last_resolved();
    return gpus_ > 0 ? gpus_ : plan ? plan->gpus : 0;
}

std::string SearchPage::shown_text() const
{
    if (filter_.empty() && !results_.pareto_only())
        return {};
    return view::grouped(double(results_.visible().size())) + " of " + view::grouped(double(results_.all().size()))
        + " shown" + (results_.pareto_only() ? ", front only" : "") + (filter_.empty() ? "" : ": " + filter_);
}

std::vector<std::string> SearchPage::lines()
{
    std::vector<std::string> lines{"Best by " + objective_text() + ", on " + gpus_text() + ", where "
        + (constraint_.empty() ? "anything" : constraint_)
        + desk_.keyed(". `s` searches; `b`, `n` and `c` change the question")};
    if (job_.is_running()) // how far it is would be read without end
        lines.push_back(desk_.keyed("Searching; `x` stops it"));
    else if (!said_.empty())
        lines.push_back(said_);
    if (const std::string shown = shown_text(); !shown.empty())
        lines.push_back(shown);
    if (obstacle_) {
        lines.push_back(obstacle_->line());
        for (std::size_t i = 0; i < cures_.size(); ++i)
            lines.push_back(std::string(static_cast<int>(i) == cure_list_.selected ? "Chosen, " : "")
                + "would do: " + view::advice_words(cures_[i]));
        return lines;
    }
    if (job_.is_running() || results_.all().empty())
        return lines;
    constexpr int kMost = 20;
    speak_rows(lines, results_.table(kMost));
    if (const std::optional<std::size_t> id = chosen())
        lines.push_back("Chosen: row " + std::to_string(table_.list.selected + 1) + ", "
            + view::layout_line(plan_of(results_.all()[*id].found, job_.request()).layout) + ", "
            + results_.certainty(*id) + (results_.pinned().contains(*id) ? ", pinned" : "")
            + "; enter puts it into the plan");
    return lines;
}

bool SearchPage::key(const Key& key)
{
    if (key.is('s') || key.code == Key::f6) {
        start();
    } else if (key.is('x') || (key.code == Key::escape && job_.is_running())) {
        job_.cancel();
    } else if (key.is('b')) {
        ask_objective();
    } else if (key.is('n')) {
        ask_gpus();
    } else if (key.is('c')) {
        ask_constraint();
    } else if (key.is('/')) {
        ask_filter();
    } else if (key.is('<') || key.is('>')) {
        sort_next(key.is('>') ? 1 : -1);
    } else if (key.is('r')) {
        results_.sort(results_.sort_column(), !results_.is_falling());
    } else if (key.is('F')) {
        results_.set_pareto_only(!results_.pareto_only());
    } else if (key.is('H')) {
        shows_refused_ = !shows_refused_;
        desk_.tell(shows_refused_ ? "Shows what the software would stop at" : "Hides what the software would stop at");
        start();
    } else if (key.is('W')) {
        show_warnings();
    } else if (key.is('V')) {
        views_.ask();
    } else if (key.is('p')) {
        pin_chosen();
    } else if (key.is('C')) {
        compare_pinned();
    } else if (key.is('e')) {
        desk_.exports().ask(
            "layouts", [this] { return results_.table(kMostExported); },
            Picture([this] { return Chart(front(kMostExported).chart); }));
    } else if (key.code == Key::enter || table_.is_on_chosen(key)) {
        apply_chosen();
    } else if (obstacle_) {
        return cure_list_.key(key, static_cast<int>(cures_.size()));
    } else if (key.code == Key::tab || key.code == Key::back_tab) {
        picture_.focused = !picture_.focused && !results_.all().empty();
    } else if (const int head = table_.heading_at(key); head >= 0) {
        sort_by(columns()[static_cast<std::size_t>(head)]);
    } else if (const auto took = picture_.key(
                   key, [this] { return points(); }, table_.list.selected);
               took != PointPicker::Took::no) {
        if (took == PointPicker::Took::opens)
            apply_chosen();
    } else {
        return table_.key(key, static_cast<int>(results_.visible().size()));
    }
    return true;
}

void SearchPage::sort_next(int step)
{
    const std::vector<int> shown = columns();
    const auto at = std::find(shown.begin(), shown.end(), results_.sort_column());
    const auto count = static_cast<int>(shown.size());
    const int next = ((static_cast<int>(at - shown.begin()) + step) % count + count) % count;
    const int column = shown[static_cast<std::size_t>(next)];
    results_.sort(column, falls_first(column));
}

// Of a heading; of the one that it is sorted by already the other way round.
void SearchPage::sort_by(int column)
{
    results_.sort(column, column == results_.sort_column() ? !results_.is_falling() : falls_first(column));
}

void SearchPage::ask_objective()
{
    std::vector<Picker::Item> items;
    for (const view::ObjectiveChoice& choice : view::objective_choices())
        items.push_back({choice.label, choice.field, [this, field = std::string(choice.field)] {
                             objective_ = field;
                             desk_.tell(desk_.keyed("`s` searches again"));
                         }});
    desk_.open(std::make_unique<Picker>("Best by", std::move(items)));
}

void SearchPage::ask_gpus()
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
    prompt->explain("64, or 64 and fewer; empty: the plan's");
    desk_.open(std::move(prompt));
}

void SearchPage::ask_constraint()
{
    auto prompt = std::make_unique<Prompt>("What must hold", constraint_, [this](const std::string& text) {
        const std::string problem = expression_problem(text);
        if (problem.empty())
            constraint_ = trimmed(text);
        return problem;
    });
    prompt->explain(kExample);
    prompt->complete(plan_names);
    desk_.open(std::move(prompt));
}

void SearchPage::ask_filter()
{
    auto prompt = std::make_unique<Prompt>("Show only", filter_, [this](const std::string& text) {
        const std::string problem = expression_problem(text);
        if (problem.empty()) {
            filter_ = trimmed(text);
            results_.set_filter(expression_of(filter_));
        }
        return problem;
    });
    prompt->explain(kExample);
    prompt->complete(plan_names);
    desk_.open(std::move(prompt));
}

void SearchPage::apply_chosen()
{
    const view::PlanState& state = desk_.plan().state();
    if (obstacle_) {
        const auto index = static_cast<std::size_t>(cure_list_.selected);
        if (index < cures_.size() && state.resolved())
            desk_.apply("Applied " + cures_[index].edit.summary,
                view::with_fields(state.plan(), changed_fields(job_.request().plan, cures_[index].edit.plan)));
        return;
    }
    const std::optional<std::size_t> id = chosen();
    if (!id)
        return;
    const ResolvedPlan found = plan_of(results_.all()[*id].found, job_.request());
    desk_.apply("Applied " + view::layout_line(found.layout), with_layout(state.plan(), found));
    desk_.go(PageId::plan);
}

// Told of the prediction as the plan would have it.
void SearchPage::show_warnings()
{
    const std::optional<std::size_t> id = chosen();
    if (!id) {
        desk_.tell("No layout is chosen");
        return;
    }
    const ResolvedPlan plan = plan_of(results_.all()[*id].found, job_.request());
    desk_.open(std::make_unique<Pager>(view::layout_line(plan.layout),
        results_.certainty(*id) + "\n" + view::warning_lines(predict_with_evidence(plan).warnings)));
}

void SearchPage::pin_chosen()
{
    if (const std::optional<std::size_t> id = chosen())
        results_.toggle_pin(*id);
}

void SearchPage::compare_pinned()
{
    if (results_.pinned().empty())
        pin_chosen();
    for (const std::size_t id : results_.pinned())
        compare_.list().add(plan_of(results_.all()[id].found, job_.request()));
    if (!results_.pinned().empty())
        desk_.go(PageId::compare);
}

std::string SearchPage::hints() const
{
    if (job_.is_running())
        return "x stop";
    if (results_.all().empty())
        return "s search  b n c the question";
    if (picture_.focused)
        return "h l point  Enter to plan  p pin  Tab table  s search";
    return "s search  Enter to plan  / filter  < > r sort  p pin  C compare  Tab picture  F front  e export";
}

std::vector<Command> SearchPage::commands()
{
    const auto press = [this](char32_t letter) { return [this, letter] { key({Key::character, letter}); }; };
    return {{"Search", "s", press('s')}, {"Stop the search", "x", press('x')}, {"Best by", "b", press('b')},
        {"GPUs to search for", "n", press('n')}, {"What must hold", "c", press('c')},
        {"Filter the results", "/", press('/')}, {"Sort by another column", "< >", press('>')},
        {"Turn the order round", "r", press('r')}, {"Pareto front only", "F", press('F')},
        {"Go to the picture, or back to the table", "Tab", [this] { key({Key::tab}); }},
        {"Show or hide what the software would stop at", "H", press('H')},
        {"Put the layout into the plan", "Enter", [this] { apply_chosen(); }}, {"Pin the layout", "p", press('p')},
        {"How sure the layout is, with its warnings", "W", press('W')}, {"Compare the pinned layouts", "C", press('C')},
        {"Export the results", "e", press('e')}, {"Views of the table, kept by a name", "V", press('V')},
        {"Choose the columns", "", [this] { choice_.ask(desk_); }}};
}

Json SearchPage::state() const
{
    return {{"objective", objective_}, {"constraint", constraint_}, {"gpus", gpus_}, {"up_to", up_to_},
        {"shows_refused", shows_refused_}, {"view", to_json(as_view())}};
}

void SearchPage::restore(const Json& state)
{
    const auto words = [&](const char* key, std::string& into) {
        if (state.contains(key) && state[key].is_string())
            into = state[key];
    };
    std::string objective;
    words("objective", objective);
    for (const view::ObjectiveChoice& choice : view::objective_choices()) {
        if (objective == choice.field)
            objective_ = objective;
    }
    words("constraint", constraint_);
    if (!expression_problem(constraint_).empty())
        constraint_.clear();
    if (state.contains("gpus") && state["gpus"].is_number_integer())
        gpus_ = std::clamp(state["gpus"].get<int>(), 0, kMaxGpus);
    if (state.contains("view"))
        static_cast<void>(show_view(view::saved_view_from_json(state["view"])));
    up_to_ = state.contains("up_to") && state["up_to"] == true;
    shows_refused_ = state.contains("shows_refused") && state["shows_refused"] == true;
}

} // namespace fourfold::tui
