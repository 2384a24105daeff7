// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/cluster_form.h"

#include "app/tui/host_questions.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdlib>

namespace fourfold::tui {

namespace {
constexpr int kLabelColumns = 13; // columns
constexpr int kFirstLines = 4; // lines before anything is found
constexpr int kActions = 2;
constexpr const char* kActionNames[kActions]{"Save it and plan on it", "Save it, plan on it and measure its ranks"};
} // namespace

ClusterForm::ClusterForm(Desk& desk, std::function<void(const std::string& target)> taken)
    : desk_(desk)
    , taken_(std::move(taken))
    , finder_(std::make_shared<view::ClusterFinder>(desk.presets(), desk.wake()))
{
    form_.lines = {{"Name", "node1, an SSH alias, alice@login, local", InputLine()},
        {"Jump hosts", "gate,bob@inner:2222; empty: as ssh has it", InputLine()},
        {"Base folder", "/scratch/alice/fourfold; empty: the home folder", InputLine()},
        {"Prelude", "module load cuda; empty: none", InputLine()}};
    // A question may stand after the form is gone.
    const std::weak_ptr<view::ClusterFinder> finder = finder_;
    finder_->ask_host_key = [&desk, finder](const HostKeyQuestion& question) {
        ask_host_key(desk, question, [finder](bool trusted) {
            if (const auto asking = finder.lock())
                asking->answer_host_key(trusted);
        });
    };
    finder_->ask_secret = [&desk, finder](const SecretQuestion& question) {
        ask_secret(
            desk, question,
            [finder](const auto& secret) {
                if (const auto asking = finder.lock())
                    asking->answer_secret(secret);
            },
            [finder] {
                const auto asking = finder.lock();
                return asking && asking->is_checking_secret();
            });
    };
}

void ClusterForm::tick()
{
    const bool was_found = finder_->found().has_value();
    if (!finder_->receive())
        return;
    if (!was_found && finder_->found())
        show_controls();
    if (!finder_->problem().empty())
        refusal_ = finder_->problem();
    if (finder_->saved() && !finder_->is_busy())
        finish();
}

void ClusterForm::show_controls()
{
    const auto& plan = desk_.plan().state().resolved();
    const view::ClusterFinder::Controls first = finder_->first_controls(plan ? plan->gpus : 0);
    form_.lines.resize(kFirstLines);
    form_.lines.push_back({"Save as", "a name for the target", InputLine(first.id)});
    if (first.slurm) {
        form_.lines.push_back({"Partition", "of Slurm", InputLine(first.partition)});
        form_.lines.push_back({"Nodes", "how many of them for the plan", InputLine(std::to_string(first.nodes))});
        form_.lines.push_back({"Account", "of Slurm; empty: its default", InputLine(first.account)});
        form_.lines.push_back({"QOS", "of Slurm; empty: its default", InputLine(first.qos)});
        form_.lines.push_back({"Time limit", "1:30:00; empty: the partition's", InputLine(first.time)});
        form_.lines.push_back({"Options", "of sbatch: --mail-type=END", InputLine(first.options)});
    }
    form_.lines.push_back({"Taken as", "a cluster preset; empty: the best match", InputLine(first.like)});
    form_.offer();
    form_.at = static_cast<int>(form_.lines.size());
    actions_.selected = 0;
    refresh();
}

view::ClusterFinder::Controls ClusterForm::controls() const
{
    view::ClusterFinder::Controls out = finder_->first_controls(0);
    out.id = form_.text("Save as");
    out.partition = form_.text("Partition");
    out.account = form_.text("Account");
    out.qos = form_.text("QOS");
    out.time = form_.text("Time limit");
    out.options = form_.text("Options");
    out.nodes = std::atoi(form_.text("Nodes").c_str());
    out.like = form_.text("Taken as");
    return out;
}

void ClusterForm::refresh()
{
    if (!finder_->found())
        return;
    const Expected<std::string> outcome = finder_->outcome(controls());
    outcome_ = outcome ? *outcome : "";
    refusal_ = outcome ? "" : outcome.error().line();
}

void ClusterForm::look()
{
    const Expected<void> asked = finder_->look(
        {form_.text("Name"), form_.text("Jump hosts"), form_.text("Base folder"), form_.text("Prelude")});
    form_.lines.erase(form_.lines.begin() + kFirstLines, form_.lines.end());
    form_.at = 0;
    outcome_.clear();
    refusal_ = asked ? "" : asked.error().line();
}

void ClusterForm::act(int action)
{
    const Expected<void> saved = finder_->save(controls());
    if (!saved) {
        refusal_ = saved.error().line();
        return;
    }
    if (action == 0) {
        finish();
        return;
    }
    const Expected<void> measuring = finder_->measure(desk_.plan().state().plan());
    refusal_ = measuring ? "" : measuring.error().line();
}

// What was saved is the plan's hardware and the page's target; a measurement that failed is told beside it.
void ClusterForm::finish()
{
    close([&desk = desk_, taken = taken_, saved = *finder_->saved(), problem = finder_->problem()] {
        if (!desk.plan().state().plan().document.is_null())
            desk.apply("Hardware " + saved.target, view::with_hardware(desk.plan().state().plan(), saved));
        if (taken)
            taken(saved.target);
        desk.tell(!problem.empty() ? "Saved as " + saved.target + "; not measured: " + problem
                : saved.cluster.empty()
                ? "Saved as " + saved.target + "; the plan keeps its cluster until this one is measured"
                : "Saved as " + saved.target + "; the plan is on cluster " + saved.cluster,
            problem.empty() ? view::Tone::good : view::Tone::warning);
    });
}

void ClusterForm::draw(Canvas& canvas, const Look&)
{
    const int columns = std::min(canvas.columns() - 4, 110);
    const Rect inside = draw_frame(canvas, canvas.rows() - 2, columns, "Find a cluster");
    const int last = inside.row + inside.rows - 1;
    int row = form_.draw(
        canvas, {inside.row, inside.column, inside.rows - 1, inside.columns}, kLabelColumns, !finder_->is_busy());
    const auto say = [&](const std::string& text, Style style) {
        for (const std::string& part : wrapped(text, inside.columns)) {
            if (row < last)
                canvas.text_in(row++, inside.column, inside.columns, part, style);
        }
    };
    if (finder_->is_busy())
        say(finder_->progress() + "...", kMuted);
    if (!refusal_.empty())
        say(refusal_, style_of(view::Tone::bad));
    else if (!outcome_.empty())
        say(outcome_, kBold);
    actions_place_ = {row, inside.column, 0, inside.columns};
    for (int i = 0; finder_->found() && i < kActions && row < last; ++i, ++row) {
        ++actions_place_.rows;
        canvas.text_in(row, inside.column, inside.columns, kActionNames[i], kBold);
        if (in_actions() && i == actions_.selected)
            canvas.restyle({row, inside.column, 1, inside.columns}, kReverse);
    }
    for (const std::string& line : finder_->lines())
        say(line, {});
    canvas.text_in(last, inside.column, inside.columns,
        finder_->is_busy()     ? "Esc ends it"
            : in_actions()     ? "Enter does it, Tab to the lines above, Esc leaves"
            : finder_->found() ? "Enter to the next, Tab moves; from the line Prelude it looks again; Esc leaves"
                               : "Enter to the next, from the last one it looks; Tab moves, Esc leaves",
        kMuted);
}

void ClusterForm::key(const Key& key)
{
    if (key.code == Key::escape || key.is_ctrl('c')) {
        if (finder_->is_busy())
            finder_->stop();
        else
            close();
        return;
    }
    if (finder_->is_busy())
        return;
    if (const auto again = actions_.click(key, actions_place_, kActions)) {
        if (*again && in_actions())
            act(actions_.selected);
        else
            form_.at = static_cast<int>(form_.lines.size());
    } else if (form_.move(key, finder_->found().has_value())) {
        return;
    } else if (in_actions()) {
        if (key.code == Key::enter)
            act(actions_.selected);
        else
            actions_.key(key, kActions);
    } else if (key.code == Key::enter) {
        if (form_.at == kFirstLines - 1)
            look();
        else
            ++form_.at;
    } else if (form_.here().input.key(key)) {
        refusal_ = form_.here().input.refusal();
        if (refusal_.empty() && form_.at >= kFirstLines)
            refresh();
    }
}

std::string ClusterForm::read_out()
{
    if (finder_->is_busy())
        return finder_->progress() + "; esc ends it\n";
    std::string text = refusal_.empty() ? "" : refusal_ + "\n";
    if (in_actions()) {
        for (const std::string& line : finder_->lines())
            text += line + "\n";
        text += outcome_ + "\n";
        for (int i = 0; i < kActions; ++i)
            text += text_of("%d ", i + 1) + kActionNames[i] + "\n";
        return text + "A number does it, again goes through the lines, esc leaves\n";
    }
    return text + "Find a cluster. " + form_.question();
}

void ClusterForm::answer(const std::string& line)
{
    const std::string word(trimmed(line));
    if (word == kLeaves) {
        key({Key::escape});
    } else if (finder_->is_busy()) {
        return;
    } else if (in_actions()) {
        const int number = std::atoi(word.c_str());
        if (word == "again")
            form_.at = 0;
        else if (number >= 1 && number <= kActions)
            act(number - 1);
    } else {
        if (!word.empty()) {
            form_.here().input.set(word);
            if (form_.at >= kFirstLines)
                refresh();
        }
        key({Key::enter});
    }
}

} // namespace fourfold::tui
