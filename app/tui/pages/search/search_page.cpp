// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/search/search_page.h"

#include "app/tui/linear/spoken.h"
#include "app/tui/pages/compare/compare_page.h"
#include "app/tui/pages/search/found_points.h"
#include "app/tui/pages/search/plan_expression.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/facts.h"
#include "app/view/search/search_words.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/plan/plan_edit.h"
#include "core/search/search_cost.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fourfold::tui {

using view::Results;

namespace {
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
} // namespace

SearchPage::SearchPage(Desk& desk, ComparePage& compare)
    : Page(desk)
    , compare_(compare)
    , question_(desk)
    , obstacle_(desk)
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
    FOURFOLD_TRY(std::optional<Expression> filter, plan_expression(kept.filter)); // another program may have written it
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
    Expected<SearchRequest> request = question_.request(*plan);
    if (!request) {
        desk_.tell(request.error().line(), view::Tone::bad);
        return;
    }
    one_size_ = request->space.gpus.size() == 1;
    dense_ = !plan->model.experts;
    results_.clear();
    results_.sort(Results::place);
    table_.list = {};
    obstacle_.forget();
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
    std::shared_ptr<const Prediction> answer
        = searched_ && searched_->is_answered() ? searched_->prediction() : nullptr;
    if (answer == compared_)
        return;
    compared_ = std::move(answer);
    results_.set_plan_throughput(compared_
            ? view::throughput_to_beat(job_.request(), *searched_->state().resolved(), *compared_)
            : std::nullopt);
}

void SearchPage::tick()
{
    obstacle_.tick();
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
    if (result.best.empty() && !result.cancelled)
        obstacle_.show(job_.request(), result);
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
    std::vector<std::string> lines{
        question_.said() + desk_.keyed(". `s` searches; `b`, `n` and `c` change the question")};
    if (job_.is_running()) // how far it is would be read without end
        lines.push_back(desk_.keyed("Searching; `x` stops it"));
    else if (!said_.empty())
        lines.push_back(said_);
    if (const std::string shown = shown_text(); !shown.empty())
        lines.push_back(shown);
    if (obstacle_.is_there()) {
        std::ranges::move(obstacle_.lines(), std::back_inserter(lines));
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

void SearchPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    question_.draw(canvas, place);
    const std::string shown = shown_text();
    canvas.text_in(place.row + 1, place.column + 1, place.columns - 2,
        said_.empty() || shown.empty() ? said_ : shown + "; " + said_, kMuted);
    const Rect body{place.row + 2, place.column + 1, place.rows - 2, place.columns - 2};
    if (obstacle_.is_there()) {
        obstacle_.draw(canvas, body);
        return;
    }
    if (results_.all().empty()) {
        if (!job_.is_running())
            canvas.text_in(body.row + 1, body.column, body.columns,
                desk_.keyed("`s` searches every layout that the plan's model, cluster and batch allow"), kMuted);
        return;
    }
    constexpr std::size_t kMostDots = 4000; // more do not fit into cells
    const bool wide = place.columns >= 150, high = body.rows >= 26;
    if (picture_.focused && !wide && !high) { // there is room for one of the two
        table_.hide();
        picture_.place
            = draw_plot(canvas, {body.row, body.column, body.rows - 1, body.columns}, front(kMostDots), look);
        if (const std::optional<std::size_t> id = chosen()) // below stands which layout it is
            canvas.text_in(body.row + body.rows - 1, body.column, body.columns, results_.certainty(*id), kMuted);
        return;
    }
    const int plot_rows = wide || !high ? 0 : std::clamp(body.rows / 3, 8, 18);
    const int plot_columns = wide ? std::clamp(place.columns / 4, 40, 60) : 0;
    draw_table(
        canvas, {body.row, body.column, body.rows - plot_rows - 1, body.columns - plot_columns - (wide ? 2 : 0)});
    picture_.place = {};
    if (wide)
        picture_.place = draw_plot(canvas,
            {body.row, body.column + body.columns - plot_columns, body.rows, plot_columns}, front(kMostDots), look);
    else if (high)
        picture_.place = draw_plot(
            canvas, {body.row + body.rows - plot_rows, body.column, plot_rows, body.columns}, front(kMostDots), look);
    if (const std::optional<std::size_t> id = chosen())
        canvas.text_in(body.row + body.rows - plot_rows - 1, body.column, body.columns - plot_columns,
            results_.certainty(*id), kMuted);
}

void SearchPage::draw_table(Canvas& canvas, const Rect& place)
{
    const std::vector<int> shown_columns = columns();
    std::vector<TableView::Column> heads;
    TableView::Content content;
    for (const int at : shown_columns) {
        std::string title = Results::title(at);
        if (title.starts_with("Tokens/s"))
            title = "TPS/GPU";
        std::replace(title.begin(), title.end(), '\n', ' ');
        heads.push_back({title,
            at != Results::pin && (at < Results::schedule || (at > Results::recompute && at != Results::confidence)),
            24});
        if (at == results_.sort_column())
            content.sorted = static_cast<int>(heads.size()) - 1;
    }
    table_.set_columns(std::move(heads));
    content.rows = static_cast<int>(results_.visible().size());
    content.falling = results_.is_falling();
    content.focused = !picture_.focused;
    content.text = [&](int row, int at) {
        return results_.text(
            results_.visible()[static_cast<std::size_t>(row)], shown_columns[static_cast<std::size_t>(at)]);
    };
    content.style = [&](int row, int at) {
        return style_of(results_.tone(
            results_.visible()[static_cast<std::size_t>(row)], shown_columns[static_cast<std::size_t>(at)]));
    };
    table_.draw(canvas, place, content);
}

bool SearchPage::key(const Key& key)
{
    if (key.is('s') || key.code == Key::f6) {
        start();
    } else if (key.is('x') || (key.code == Key::escape && job_.is_running())) {
        job_.cancel();
    } else if (key.is('b')) {
        question_.ask_objective();
    } else if (key.is('n')) {
        question_.ask_gpus();
    } else if (key.is('c')) {
        question_.ask_constraint();
    } else if (key.is('/')) {
        ask_filter();
    } else if (key.is('<') || key.is('>')) {
        sort_next(key.is('>') ? 1 : -1);
    } else if (key.is('r')) {
        results_.sort(results_.sort_column(), !results_.is_falling());
    } else if (key.is('F')) {
        results_.set_pareto_only(!results_.pareto_only());
    } else if (key.is('H')) {
        question_.turn_refused();
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
    } else if (obstacle_.is_there()) {
        return obstacle_.key(key);
    } else if (key.code == Key::tab || key.code == Key::back_tab) {
        picture_.focused = !picture_.focused && !results_.all().empty();
    } else if (const int head = table_.heading_at(key); head >= 0) {
        sort_by(columns()[static_cast<std::size_t>(head)]);
    } else if (const auto took = picture_.key(
                   key, [this] { return found_points(results_); }, table_.list.selected);
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

void SearchPage::ask_filter()
{
    ask_for_expression(desk_, "Show only", filter_, [this](const std::string& text, std::optional<Expression> filter) {
        filter_ = text;
        results_.set_filter(std::move(filter));
    });
}

void SearchPage::apply_chosen()
{
    if (obstacle_.is_there()) {
        obstacle_.apply_chosen();
        return;
    }
    const std::optional<std::size_t> id = chosen();
    if (!id)
        return;
    const ResolvedPlan found = plan_of(results_.all()[*id].found, job_.request());
    desk_.apply("Applied " + view::layout_line(found.layout), with_layout(desk_.plan().state().plan(), found));
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

// What the chosen point is.
std::string SearchPage::remark() const
{
    const std::optional<std::size_t> id = chosen();
    if (!id || !picture_.focused)
        return {};
    const ResolvedPlan plan = plan_of(results_.all()[*id].found, job_.request());
    return view::layout_line(plan.layout) + " mb " + std::to_string(plan.training.micro_batch) + ": "
        + results_.text(*id, Results::throughput) + " TPS/GPU, " + results_.text(*id, Results::memory) + " GiB"
        + (results_.is_pareto(*id) ? ", on the Pareto front" : "") + "; " + results_.certainty(*id);
}

Plot SearchPage::front(std::size_t most) const
{
    return found_front(results_, chosen(), most);
}

std::vector<Copy> SearchPage::copies()
{
    std::vector<Copy> copies;
    const std::optional<std::size_t> id = results_.all().empty() ? std::nullopt : chosen();
    if (id)
        copies.push_back({"The chosen layout",
            [this, id] { return view::layout_line(plan_of(results_.all()[*id].found, job_.request()).layout); }});
    if (!results_.all().empty())
        copies.push_back({"The table", [this] { return spreadsheet_rows(results_.table(kMostExported)); }});
    offer_command(
        copies, "The command that searches so", "search", desk_.plan(), [this] { return question_.arguments(); });
    return copies;
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
    Json state = question_.state();
    state["view"] = to_json(as_view());
    return state;
}

void SearchPage::restore(const Json& state)
{
    question_.restore(state);
    if (state.contains("view"))
        static_cast<void>(show_view(view::saved_view_from_json(state["view"])));
}

} // namespace fourfold::tui
