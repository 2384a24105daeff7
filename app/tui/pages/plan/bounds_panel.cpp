// SPDX-License-Identifier: GPL-3.0-or-later
// Compute- or communication-bound, for each parallelism on each kind of link: the two times as bars, and the condition.
#include "app/tui/pages/plan/panel.h"
#include "app/tui/widgets/bars.h"
#include "app/tui/widgets/list.h"
#include "app/view/prediction/bound_words.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
constexpr Fill kCompute{Ink::blue, U'#'}, kCommunication{Ink::orange, U'='};

class BoundsPanel : public Panel {
public:
    using Panel::Panel;
    [[nodiscard]] const char* name() const override { return "Bounds"; }
    [[nodiscard]] std::string hints() const override { return "j k bound  Enter terms"; }
    [[nodiscard]] Table table(const Prediction& prediction) const override
    {
        return bounds_table(bounds_of(prediction.plan));
    }

    void draw(Canvas& canvas, const Rect& place, const Prediction& p, bool focused, const Look& look) override
    {
        follow(p);
        const auto count = static_cast<int>(links_.size());
        int column = draw_legend(canvas, place.row, place.column, kCompute, "compute", look);
        column = draw_legend(canvas, place.row, column, kCommunication, "communication", look);
        canvas.text_in(place.row, column, place.column + place.columns - column, "bold: in this plan", kMuted);
        const bool bars = place.rows - 1 >= 4 * count; // else the conditions alone
        const int each = bars ? 4 : 2;
        list_.fit(count, std::max(1, (place.rows - 1) / each));
        place_ = {place.row + 1, place.column, place.rows - 1, place.columns};
        each_ = each;
        double longest = 0;
        for (const LinkBound& link : links_)
            longest = std::max({longest, link.bound.compute_s(link.batch), link.bound.communication_s(link.batch)});
        for (int i = list_.top, row = place.row + 1; i < count && row + each <= place.row + place.rows; ++i) {
            const LinkBound& link = links_[static_cast<std::size_t>(i)];
            const bool hidden = link.compute_bound(), chosen = focused && i == list_.selected;
            const std::string verdict = hidden ? "compute-bound" : "communication-bound";
            const int words = place.columns - width_of(verdict) - 1;
            canvas.text_in(row, place.column, words, view::bound_name(link),
                chosen ? kReverse : Style{Ink::normal, Ink::normal, link.used});
            canvas.text_in(row++, place.column + words, place.columns - words, verdict,
                style_of(hidden ? view::Tone::good : view::Tone::warning), true);
            if (bars) {
                const BarPart compute[]{{link.bound.compute_s(link.batch), kCompute}};
                const BarPart communication[]{{link.bound.communication_s(link.batch), kCommunication}};
                draw_bar(canvas, row++, place.column, place.columns, compute, longest, look);
                draw_bar(canvas, row++, place.column, place.columns, communication, longest, look);
            }
            canvas.text_in(row++, place.column, place.columns, view::bound_condition(link), kMuted);
        }
    }
    [[nodiscard]] std::vector<std::string> said(const Prediction& p) override
    {
        follow(p);
        std::vector<std::string> lines;
        for (const LinkBound& link : links_)
            lines.push_back(
                view::bound_name(link) + (link.used ? ", in this plan: " : ": ") + view::bound_condition(link));
        if (const auto chosen = static_cast<std::size_t>(list_.selected); chosen < links_.size())
            lines.push_back("Chosen: " + view::bound_name(links_[chosen]) + "; enter tells its terms");
        return lines;
    }
    [[nodiscard]] std::string remark() const override
    {
        const auto chosen = static_cast<std::size_t>(list_.selected);
        return chosen < links_.size() ? view::bound_condition(links_[chosen]) : std::string();
    }
    bool key(const Key& key, const Prediction& p) override
    {
        follow(p);
        const auto count = static_cast<int>(links_.size());
        const std::optional<bool> again = list_.click(key, place_, count, each_);
        if ((key.code != Key::enter && again != true) || count == 0)
            return again || list_.key(key, count);
        const LinkBound& link = links_[static_cast<std::size_t>(std::clamp(list_.selected, 0, count - 1))];
        desk_.open(std::make_unique<Pager>(
            view::bound_name(link), view::bound_condition(link) + "\n\n" + view::bound_terms(link) + "\n"));
        return true;
    }

private:
    void follow(const Prediction& p)
    {
        if (about_ == desk_.plan().prediction())
            return;
        about_ = desk_.plan().prediction();
        links_ = bounds_of(p.plan).links;
    }
    std::shared_ptr<const Prediction> about_; // whose the links are
    std::vector<LinkBound> links_;
    List list_;
    Rect place_; // as drawn last, a bound so many rows high
    int each_ = 1;
};
} // namespace

std::unique_ptr<Panel> make_bounds_panel(Desk& desk)
{
    return std::make_unique<BoundsPanel>(desk);
}

} // namespace fourfold::tui
