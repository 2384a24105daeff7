// SPDX-License-Identifier: GPL-3.0-or-later
// The training as a whole: what it takes, and what is known of it, to be edited in place.
#include "app/tui/pages/plan/panel.h"
#include "app/tui/widgets/list.h"
#include "app/tui/widgets/tree_view.h"
#include "app/view/prediction/whole_training.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
constexpr int kTitleColumns = 15, kValueColumns = 16;

class TrainingPanel : public Panel {
public:
    using Panel::Panel;
    [[nodiscard]] const char* name() const override { return "Budget"; }
    [[nodiscard]] std::string hints() const override { return "j k line  Enter why, or edit"; }
    [[nodiscard]] Table table(const Prediction& p) const override { return view::whole_training_table(figures(p)); }

    void draw(Canvas& canvas, const Rect& place, const Prediction& p, bool focused, const Look&) override
    {
        const std::vector<view::TrainingFigure> answer = figures(p);
        const std::vector<view::TrainingInput> asked = inputs(p);
        const auto count = static_cast<int>(answer.size() + asked.size());
        list_.fit(count, place.rows);
        for (int i = 0; i < place.rows && list_.top + i < count; ++i) {
            const auto line = static_cast<std::size_t>(list_.top + i);
            const int row = place.row + i, behind = place.column + kTitleColumns + kValueColumns + 1;
            const int rest = std::max(0, place.column + place.columns - behind);
            const bool is_figure = line < answer.size();
            const view::TrainingInput* input = is_figure ? nullptr : &asked[line - answer.size()];
            canvas.text_in(row, place.column, kTitleColumns - 1, is_figure ? answer[line].title : input->label,
                is_figure ? Style{} : kAccent);
            if (is_figure) {
                canvas.text_in(row, place.column + kTitleColumns, kValueColumns, answer[line].value, kBold, true);
                canvas.text_in(row, behind, rest, words_of(answer[line]), kMuted);
            } else {
                const bool written = !input->written.empty();
                canvas.text_in(row, place.column + kTitleColumns, kValueColumns,
                    written ? input->written : std::string("-"), written ? kBold : kMuted, true);
                canvas.text_in(row, behind, rest, written ? std::string(input->unit) : otherwise(*input), kMuted);
            }
            if (focused && list_.top + i == list_.selected)
                canvas.restyle({row, place.column, 1, place.columns}, kReverse);
        }
    }
    [[nodiscard]] std::vector<std::string> said(const Prediction& p) override
    {
        std::vector<std::string> lines;
        for (const view::TrainingInput& input : inputs(p))
            lines.push_back(std::string(input.label) + " "
                + (input.written.empty() ? "not written: " + otherwise(input) : input.written + " " + input.unit) + ", "
                + input.path);
        lines.push_back("Chosen: " + remark());
        return lines;
    }
    [[nodiscard]] std::string remark() const override
    {
        const std::shared_ptr<const Prediction>& p = desk_.plan().prediction();
        if (!p)
            return {};
        const std::vector<view::TrainingFigure> answer = figures(*p);
        const std::vector<view::TrainingInput> asked = inputs(*p);
        const auto line = static_cast<std::size_t>(std::max(0, list_.selected));
        if (line < answer.size())
            return answer[line].title + " " + answer[line].value + ": " + words_of(answer[line]);
        return line - answer.size() < asked.size() ? asked[line - answer.size()].help : std::string();
    }
    bool key(const Key& key, const Prediction& p) override
    {
        const std::vector<view::TrainingFigure> answer = figures(p);
        const std::vector<view::TrainingInput> asked = inputs(p);
        const auto count = static_cast<int>(answer.size() + asked.size());
        if (key.code != Key::enter || count == 0)
            return list_.key(key, count);
        const auto line = static_cast<std::size_t>(std::clamp(list_.selected, 0, count - 1));
        if (line >= answer.size())
            edit(asked[line - answer.size()]);
        else
            explain(p, answer[line]);
        return true;
    }

private:
    [[nodiscard]] TrainingBudget budget(const Prediction& p) const
    {
        return budget_of(desk_.plan().state().plan(), p.plan);
    }
    [[nodiscard]] std::vector<view::TrainingFigure> figures(const Prediction& p) const
    {
        return view::whole_training(p, budget(p));
    }
    [[nodiscard]] std::vector<view::TrainingInput> inputs(const Prediction& p) const
    {
        return view::training_inputs(desk_.plan().state().plan(), p.plan);
    }
    // "rated: 700 W", "not known (h)"
    static std::string otherwise(const view::TrainingInput& input)
    {
        const std::string unit = input.unit;
        if (unit.empty())
            return input.otherwise;
        const bool is_figure
            = !input.otherwise.empty() && input.otherwise.back() >= '0' && input.otherwise.back() <= '9';
        return input.otherwise + (is_figure ? " " + unit : " (" + unit + ")");
    }
    static std::string words_of(const view::TrainingFigure& figure)
    {
        const std::string with = figure.expected.empty() ? "" : figure.expected + " with failures";
        return with.empty() || figure.note.empty() ? with + figure.note : with + "; " + figure.note;
    }
    // The figure that counts failures, where it is known.
    void explain(const Prediction& p, const view::TrainingFigure& figure)
    {
        Expected<Explanation> tree
            = explain_training(p, budget(p), figure.expected.empty() ? figure.key : figure.expected_key);
        if (tree)
            desk_.open(std::make_unique<TreeView>(*std::move(tree)));
    }
    void edit(const view::TrainingInput& input)
    {
        auto prompt = std::make_unique<Prompt>(
            input.label, input.written, [this, path = std::string(input.path)](const std::string& text) -> std::string {
                const Expected<Json> value = view::training_value(path, text);
                if (!value)
                    return value.error().line();
                desk_.change(path, *value);
                return {};
            });
        prompt->replaces().explain(std::string(input.help) + ". Empty: " + input.otherwise);
        desk_.open(std::move(prompt));
    }

    List list_;
};
} // namespace

std::unique_ptr<Panel> make_training_panel(Desk& desk)
{
    return std::make_unique<TrainingPanel>(desk);
}

} // namespace fourfold::tui
