// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/kernels_box.h"

#include "app/tui/linear/spoken.h"
#include "app/view/prediction/kernel_words.h"
#include "app/view/text.h"
#include "app/view/trace/scene_picture.h"
#include "core/base/text.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr int kTableFrom = 32; // rows from which the table stands below the timelines
constexpr const char* kHints = "Tab tables  o open  p plan  + - zoom  / find  e export  ? keys  Esc closes";
constexpr const char* kMoreHints = "arrows kernel  H L pan  z shows it  M measure  [ ] step  < > rank  y copies  ";
constexpr const char* kKernelKeys = R"(Tab       The timelines, the parts of the step, the collectives
o         Open traces of torch.profiler, or a folder of them
p         The plan that stands above
[ ]       The step before, the next one
< >       The rank before, the next one: of the tables
Arrows    From kernel to kernel, and from row to row (h j k l)
/ n N     Find a kernel by a part of its name; the next one, the one before
+ - 0     Closer, further, all of the step (the wheel)
H L       Earlier, later
z         Show the chosen kernel, or the measured span
Space     Mark where the chosen kernel begins
M         Measure from the chosen kernel on (or drag the mouse)
e         Export the tables, the kernels on show, the picture
y         Copy the table
Esc       Let go of what is chosen; close
)";

// The traces of a folder, or the file itself.
std::vector<std::filesystem::path> traces_of(const std::filesystem::path& path)
{
    std::error_code error;
    if (!std::filesystem::is_directory(path, error))
        return {path};
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
        std::error_code unreadable;
        if (at->is_regular_file(unreadable) && looks_like_trace(at->path()))
            files.push_back(at->path());
    }
    std::ranges::sort(files);
    return files;
}
} // namespace

Kernels::Kernels(Desk& desk)
    : desk_(desk)
    , table_view_({}, 1)
    , reader_(desk.wake())
    , studier_(desk.wake())
{
}

void Kernels::open(const std::vector<std::filesystem::path>& files)
{
    // Those of several calls come one by one: each reading begins with what is not there yet.
    reading_.insert(reading_.end(), files.begin(), files.end());
    reader_.start([this, files = reading_](const std::stop_token& stop) -> view::Background::Done {
        return [this, read = std::make_shared<const view::ReadTraces>(view::read_traces(files, stop))] {
            reading_.clear();
            view::add_traces(traces_, read->traces);
            is_own_ = is_own_ && read->traces.empty();
            step_ = -1;
            study();
            if (!read->problems.empty())
                desk_.open(std::make_unique<Pager>("This trace cannot be shown", read->problems.front().line()));
        };
    });
}

void Kernels::show(StepTrace trace, view::TraceBeside beside)
{
    own_ = std::move(beside);
    is_own_ = true;
    traces_ = {std::make_shared<const StepTrace>(std::move(trace))};
    step_ = -1;
    study();
}

std::vector<Kernels::Beside> Kernels::choices() const
{
    std::vector<Beside> choices;
    if (own_)
        choices.push_back({nullptr, own_->name});
    for (int i = 0; i < desk_.plans().count(); ++i) {
        const view::PlanEditor& plan = desk_.plans().at(i);
        choices.push_back({&plan, plan.state().title()});
    }
    return choices;
}

view::TraceBeside Kernels::chosen_beside() const
{
    if (is_own_)
        return *own_;
    for (const Beside& choice : choices()) {
        if (choice.plan != nullptr && choice.plan == beside_)
            return {choice.name, beside_->prediction(), {}};
    }
    return {desk_.plan().state().title(), desk_.plan().prediction(), {}};
}

void Kernels::refresh()
{
    if (chosen_beside().prediction != studied_ || study_.length_s == 0)
        study();
}

void Kernels::study()
{
    view::TraceBeside beside = chosen_beside();
    studied_ = beside.prediction;
    studier_.start([this, traces = traces_, beside = std::move(beside), step = step_](
                       const std::stop_token&) -> view::Background::Done {
        auto studied = std::make_shared<Expected<view::TraceStudy>>(view::study_traces(traces, beside, step));
        return [this, studied] { take(std::move(*studied)); };
    });
}

void Kernels::take(Expected<view::TraceStudy> study)
{
    if (!study) {
        desk_.open(std::make_unique<Pager>("This trace cannot be shown", study.error().line()));
        return;
    }
    study_ = *std::move(study);
    rank_ = std::min(rank_, study_.ranks.empty() ? 0 : study_.ranks.size() - 1);
    if (table() == nullptr && shown_ == Shown::collectives)
        shown_ = Shown::parts;
    control_.show({&study_.predicted, &study_.measured});
}

void Kernels::tick()
{
    reader_.deliver();
    studier_.deliver();
    if (!studier_.is_running() && chosen_beside().prediction != studied_)
        study();
}

std::string Kernels::said() const
{
    if (reader_.is_running())
        return "Reading " + view::counted(double(reading_.size()), "trace") + "...";
    if (studier_.is_running())
        return "Laying one over the other...";
    std::string text = "Beside " + chosen_beside().name;
    const std::vector<std::int64_t> steps = view::common_steps(traces_);
    if (!steps.empty())
        text += "; step " + std::to_string(step_ < 0 ? steps.back() : step_) + " of " + std::to_string(steps.front())
            + " to " + std::to_string(steps.back());
    if (rank_ < study_.ranks.size() && study_.ranks[rank_].rank >= 0)
        text += "; table of rank " + std::to_string(study_.ranks[rank_].rank);
    return text;
}

const Table* Kernels::table() const
{
    if (rank_ >= study_.ranks.size())
        return nullptr;
    const view::TraceStudy::Rank& rank = study_.ranks[rank_];
    const Table& table = shown_ == Shown::collectives ? rank.collectives : rank.parts;
    return table.columns.empty() ? nullptr : &table;
}

void Kernels::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    int row = place.row;
    canvas.text_in(row++, place.column, place.columns, said(), kBold);
    for (const std::string& remark : study_.remarks) {
        for (const std::string& line : wrapped(remark, place.columns))
            canvas.text_in(row++, place.column, place.columns, line, style_of(view::Tone::warning));
    }
    const int left = place.row + place.rows - row;
    const bool both = place.rows >= kTableFrom && table() != nullptr;
    const int of_table = both ? std::clamp(static_cast<int>(table()->rows.size()) + 2, 4, left / 3) : left;
    if (both || shown_ == Shown::timelines)
        draw_timelines(canvas, {row, place.column, both ? left - of_table : left, place.columns}, look);
    if (both || shown_ != Shown::timelines)
        draw_table(canvas, {place.row + place.rows - of_table, place.column, of_table, place.columns});
    else
        table_view_.hide();
}

int Kernels::draw_timelines(Canvas& canvas, const Rect& place, const Look& look)
{
    const std::string chosen = control_.holds_something() ? control_.said() : std::string();
    const std::vector<std::string> words = chosen.empty() ? std::vector<std::string>() : wrapped(chosen, place.columns);
    constexpr int kMostWords = 5;
    const int told = std::min(static_cast<int>(words.size()), kMostWords);
    // Each as many rows as it has, the rest to the other.
    const int room = std::max(2, place.rows - 3 - told);
    const int rows[]{std::max(1, study_.predicted.rows()), std::max(1, study_.measured.rows())};
    const int upper = std::clamp(rows[0], 1, std::max(room / 2, room - rows[1]));
    const struct {
        const char* title;
        const std::string& words;
        const view::TimelineScene& scene;
        const char* empty;
        int rows;
    } parts[]{{"Predicted", study_.predicted_words, study_.predicted,
                  "No plan has an answer yet: its step appears here", upper},
        {"Measured", study_.measured_words, study_.measured,
            "`o` opens traces of torch.profiler (.json or .json.gz), one a rank", std::max(1, room - upper)}};
    control_.show({&study_.predicted, &study_.measured});
    int row = place.row;
    for (std::size_t i = 0; i < std::size(parts); ++i) {
        int column = canvas.text(row, place.column, parts[i].title, kBold) + 2;
        canvas.text_in(row, column, place.columns - (column - place.column), parts[i].words, kMuted);
        column += width_of(parts[i].words) + 2;
        draw_timeline_legend(canvas, {row, column, 1, place.column + place.columns - column}, parts[i].scene, look);
        ++row;
        if (parts[i].scene.rows() == 0)
            canvas.text_in(row++, place.column, place.columns, desk_.keyed(parts[i].empty), kMuted);
        else
            row += control_.draw_rows(canvas, {row, place.column, parts[i].rows, place.columns}, i, true, look);
    }
    control_.draw_axis(canvas, {row++, place.column, 1, place.columns});
    for (int i = 0; i < told; ++i)
        canvas.text_in(row++, place.column, place.columns, words[static_cast<std::size_t>(i)], kAccent);
    return row - place.row;
}

void Kernels::draw_table(Canvas& canvas, const Rect& place)
{
    const Table* const table = this->table();
    canvas.text_in(place.row, place.column, place.columns,
        shown_ == Shown::collectives ? "Collectives" : "Parts of the step", kHeading);
    if (table == nullptr) {
        canvas.text_in(place.row + 1, place.column, place.columns, "No trace is here to stand beside the plan", kMuted);
        return;
    }
    std::vector<TableView::Column> heads;
    for (const Column& column : table->columns)
        heads.push_back({column.title, &column != &table->columns.front()});
    table_view_.set_columns(std::move(heads));
    table_view_.draw(canvas, {place.row + 1, place.column, place.rows - 1, place.columns},
        {.rows = static_cast<int>(table->rows.size()),
            .text =
                [table](int row, int column) {
                    const auto at = static_cast<std::size_t>(column);
                    return fourfold::shown(table->rows[static_cast<std::size_t>(row)][at], table->columns[at]);
                },
            .focused = shown_ != Shown::timelines});
}

bool Kernels::key(const Key& key)
{
    const auto turn = [this](int by) {
        const auto count = static_cast<int>(study_.ranks.size());
        if (count > 0)
            rank_ = static_cast<std::size_t>((static_cast<int>(rank_) + by + count) % count);
    };
    if (key.code == Key::tab || key.code == Key::back_tab) {
        constexpr int kShown = 3;
        const int by = key.code == Key::tab ? 1 : kShown - 1;
        do {
            shown_ = static_cast<Shown>((static_cast<int>(shown_) + by) % kShown);
        } while (shown_ != Shown::timelines && table() == nullptr);
    } else if (key.is('o')) {
        ask_to_open();
    } else if (key.is('p')) {
        ask_beside();
    } else if (key.is('[') || key.is(']')) {
        step_to(key.is(']') ? 1 : -1);
    } else if (key.is('<') || key.is('>')) {
        turn(key.is('>') ? 1 : -1);
    } else if (key.is('/')) {
        ask_to_find();
    } else if (key.is('n') || key.is('N')) {
        find(key.is('n'));
    } else if (key.is('e')) {
        ask_to_export();
    } else if (key.is('?') || key.code == Key::f1) {
        desk_.open(std::make_unique<Pager>("Keys of Kernels of a step", kKernelKeys));
    } else if (shown_ != Shown::timelines && table() != nullptr) {
        return table_view_.key(key, static_cast<int>(table()->rows.size()));
    } else {
        return control_.key(key) != TimelineControl::Took::no;
    }
    return true;
}

void Kernels::step_to(int by)
{
    const std::vector<std::int64_t> steps = view::common_steps(traces_);
    if (steps.empty())
        return;
    const auto now = step_ < 0 ? steps.end() - 1 : std::ranges::find(steps, step_);
    const auto at = std::clamp<std::ptrdiff_t>(now - steps.begin() + by, 0, std::ssize(steps) - 1);
    step_ = steps[static_cast<std::size_t>(at)];
    study();
}

void Kernels::ask_to_open()
{
    desk_.ask_for_path("Traces of a step",
        "A trace of torch.profiler (.json or .json.gz), or a folder of them, a rank each; or one that Fourfold wrote",
        [this](const std::filesystem::path& path) {
            const std::vector<std::filesystem::path> files = traces_of(path);
            if (files.empty())
                return printable(path.string()) + ": there is no trace in this folder";
            open(files);
            return std::string();
        });
}

void Kernels::ask_beside()
{
    std::vector<Picker::Item> items;
    for (const Beside& choice : choices())
        items.push_back({choice.name, choice.plan == nullptr ? "planned for the trace" : "", [this, choice] {
                             is_own_ = choice.plan == nullptr;
                             beside_ = choice.plan;
                             study();
                         }});
    desk_.open(std::make_unique<Picker>("Plan that the trace stands beside", std::move(items)));
}

void Kernels::ask_to_find()
{
    auto prompt = std::make_unique<Prompt>("Find a kernel", "", [this](const std::string& text) {
        if (!trimmed(text).empty())
            wanted_ = trimmed(text);
        shown_ = Shown::timelines;
        if (!wanted_.empty())
            find(true);
        return std::string();
    });
    prompt->explain(desk_.keyed("Part of a kernel's name; `n` and `N` go to the next one and the one before"));
    desk_.open(std::move(prompt));
}

// In the trace first, else in the prediction.
void Kernels::find(bool forward)
{
    if (wanted_.empty()) {
        ask_to_find();
        return;
    }
    const view::TimelineScene* const scenes[]{&study_.measured, &study_.predicted};
    control_.show({&study_.predicted, &study_.measured});
    for (std::size_t i = 0; i < std::size(scenes); ++i) {
        if (scenes[i]->has_kernels() && control_.find(1 - i, view::kernels_named(*scenes[i], wanted_), forward))
            return;
    }
    desk_.open(std::make_unique<Pager>("Find a kernel", "None is called " + wanted_));
}

void Kernels::ask_to_export()
{
    std::vector<Picker::Item> items;
    if (rank_ < study_.ranks.size()) {
        const view::TraceStudy::Rank& rank = study_.ranks[rank_];
        for (const auto& [name, table] :
            {std::pair{"parts", &rank.parts}, std::pair{"collectives", &rank.collectives}}) {
            if (!table->columns.empty())
                items.push_back({table == &rank.parts ? "Parts of the step" : "Collectives", "",
                    [this, name = name, table = *table] { desk_.exports().ask(name, [table] { return table; }); }});
        }
    }
    const std::pair<double, double> on_show = control_.on_show();
    const auto picture = [on_show](const std::vector<view::TitledScene>& scenes) {
        Picture picture;
        picture.write = [scenes, on_show](const std::filesystem::path& file, const std::optional<PictureSize>& asked) {
            return view::export_scenes(scenes, on_show, file, asked);
        };
        return picture;
    };
    const std::vector<view::TitledScene> scenes = view::titled_scenes(study_, chosen_beside().name);
    for (const view::TitledScene& one : scenes) {
        const std::string which = one.scene == &study_.predicted ? "Predicted" : "Measured";
        const std::string what = one.scene->has_kernels() ? "kernels" : "stages";
        const auto table = [scene = one.scene, on_show] {
            return scene->has_kernels() ? kernels_table(scene->kernel_timeline(on_show.first, on_show.second))
                                        : spans_table({scene->timeline(), scene->steady()});
        };
        items.push_back({which + " " + what + " on show", "a table or a picture",
            [this, name = lower_case(which) + "-" + what, table, drawn = picture({one})] {
                desk_.exports().ask(name, table, drawn);
            }});
    }
    if (scenes.size() == 2)
        items.push_back({"Both in one picture", "what is on show, on one axis",
            [this, drawn = picture(scenes)] { desk_.exports().ask("kernels", {}, drawn); }});
    if (!items.empty())
        desk_.open(std::make_unique<Picker>("Export", std::move(items)));
}

std::string Kernels::copied() const
{
    return table() == nullptr ? std::string() : spreadsheet_rows(*table());
}

std::vector<std::string> Kernels::lines() const
{
    std::vector<std::string> lines{said()};
    if (is_busy())
        return lines;
    if (!study_.predicted_words.empty())
        lines.push_back("Predicted: " + study_.predicted_words);
    if (!study_.measured_words.empty())
        lines.push_back("Measured: " + study_.measured_words);
    lines.insert(lines.end(), study_.remarks.begin(), study_.remarks.end());
    if (control_.holds_something()) {
        std::string words = control_.said();
        for (std::size_t at = 0; (at = words.find('\n', at)) != std::string::npos;)
            words.replace(at, 1, "; ");
        lines.push_back("Chosen: " + words);
    }
    if (table() != nullptr)
        speak_rows(lines, *table(), -1, 200);
    return lines;
}

void Kernels::take_line(const std::string& line)
{
    const std::size_t blank = line.find(' ');
    const std::string word = line.substr(0, blank);
    const std::string rest(
        blank == std::string::npos ? std::string_view() : trimmed(std::string_view(line).substr(blank)));
    if (word == "open" && !rest.empty()) {
        open(traces_of(typed_path(rest)));
    } else if (word == "find" && !rest.empty()) {
        wanted_ = rest;
        find(true);
    } else if (word == "step" && !rest.empty()) {
        std::int64_t step = -1;
        std::from_chars(rest.data(), rest.data() + rest.size(), step);
        step_ = step;
        study();
    } else if (word == "rank" && !rest.empty()) {
        for (std::size_t i = 0; i < study_.ranks.size(); ++i) {
            if (std::to_string(study_.ranks[i].rank) == rest)
                rank_ = i;
        }
    } else if (word == "collectives" || word == "parts") {
        shown_ = word == "parts" ? Shown::parts : Shown::collectives;
    } else if (word == "plan") {
        ask_beside();
    }
}

void KernelsBox::draw(Canvas& canvas, const Look& look)
{
    const Rect inside = draw_frame(canvas, canvas.rows() - 6, canvas.columns() - 4, "Kernels of a step");
    kernels_.draw(canvas, {inside.row, inside.column, inside.rows - 1, inside.columns}, look);
    const std::string all = std::string(kMoreHints) + kHints;
    canvas.text_in(inside.row + inside.rows - 1, inside.column, inside.columns,
        width_of(all) <= inside.columns ? all : kHints, kMuted);
}

void KernelsBox::key(const Key& key)
{
    const bool lets_go = key.code == Key::escape && kernels_.holds_something(); // of what is chosen or measured
    if ((key.code == Key::escape && !lets_go) || key.is('q') || key.is_ctrl('c'))
        close();
    else
        kernels_.key(key);
}

std::string KernelsBox::read_out()
{
    std::string text = "Kernels of a step\n";
    for (const std::string& line : kernels_.lines())
        text += line + "\n";
    return text + "open FILE, step N, rank N, plan, find NAME, parts or collectives; esc leaves\n";
}

void KernelsBox::answer(const std::string& line)
{
    const std::string words(trimmed(line));
    if (words == kLeaves || words == "q")
        close();
    else
        kernels_.take_line(words);
}

} // namespace fourfold::tui
