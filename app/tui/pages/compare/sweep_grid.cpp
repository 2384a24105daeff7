// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/sweep_grid.h"

#include "app/tui/linear/spoken.h"
#include "app/tui/pages/compare/table_items.h"
#include "app/view/compare/grid_around.h"
#include "app/view/compare/grid_chart.h"
#include "app/view/compare/published.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/plan/plan_edit.h"
#include "core/report/views/grid_table.h"

#include <algorithm>

namespace fourfold::tui {

SweepGrid::SweepGrid(Desk& desk)
    : desk_(desk)
    , work_(desk.wake())
    , view_({}, 1)
{
}

void SweepGrid::tick()
{
    work_.deliver();
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().resolved();
    if (!plan || (base_ && to_json(*base_, PresetStyle::ids) == to_json(*plan, PresetStyle::ids)))
        return;
    base_ = *plan;
    problem_.clear();
    measured_.reset();
    std::vector<GridLayout> layouts = view::layouts_around(*plan);
    std::vector<int> gpus = view::gpus_around(*plan);
    if (beside_) {
        auto measured = std::make_shared<MeasuredGrid>(*beside_, *plan);
        if (measured->size() > 0) {
            layouts = measured->layouts();
            gpus = measured->gpus();
            measured_ = std::move(measured);
        } else {
            problem_ = table_name_
                + " measured nothing with this plan's model, GPU, sequence length, batch, precision and sharding";
        }
    }
    work_.start([this, base = *plan, layouts, gpus](const std::stop_token& stop) -> view::Background::Done {
        LayoutGrid grid = sweep_layouts(base, layouts, gpus, 0, {}, stop, predicting_beside_own_runs(base));
        return [this, base, grid = std::move(grid)] {
            grid_ = grid;
            column_ = std::min(column_, grid_.gpus.empty() ? 0 : grid_.gpus.size() - 1);
            choose_own(base);
        };
    });
}

// Where the plan stands, all else is beside it.
void SweepGrid::choose_own(const ResolvedPlan& plan)
{
    const auto row = std::ranges::find_if(grid_.layouts, [&plan](const GridLayout& layout) {
        return layout.tp == plan.layout.tp && layout.cp == plan.layout.cp && layout.pp == plan.layout.pp
            && layout.virtual_stages == plan.layout.virtual_stages && layout.micro_batch == plan.training.micro_batch;
    });
    if (row != grid_.layouts.end())
        view_.list.selected = static_cast<int>(row - grid_.layouts.begin());
    const auto column = std::ranges::find(grid_.gpus, plan.gpus);
    if (column != grid_.gpus.end())
        column_ = static_cast<std::size_t>(column - grid_.gpus.begin());
}

Table SweepGrid::table(TableFormat format) const
{
    return grid_table(grid_, value_, measured_.get(), format);
}

std::string SweepGrid::said() const
{
    if (!problem_.empty())
        return problem_;
    if (grid_.layouts.empty())
        return "Predicting...";
    std::string text = std::string(view::grid_value_label(value_))
        + (measured_ ? ", predicted / measured by " + table_name_ : ", predicted; - does not fit, or is no layout");
    if (measured_)
        text += ". " + agreement_text(grid_, *measured_, value_);
    text += ". Enter applies the row on " + std::to_string(grid_.gpus[column_]) + " GPUs";
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

void SweepGrid::draw(Canvas& canvas, const Rect& place)
{
    int row = place.row;
    for (const std::string& line : wrapped(said(), place.columns))
        canvas.text_in(row++, place.column, place.columns, line, kMuted);
    if (grid_.layouts.empty())
        return;
    const Table shown_table = table(TableFormat::text);
    std::vector<TableView::Column> heads;
    for (const Column& column : shown_table.columns)
        heads.push_back({column.title.empty() ? column.key : column.title, true, 24});
    const std::size_t first = shown_table.columns.size() - grid_.gpus.size(); // of the GPU counts
    view_.set_columns(std::move(heads));
    TableView::Content content;
    content.rows = static_cast<int>(shown_table.rows.size());
    content.text = [&](int at, int column) {
        return shown(shown_table.rows[static_cast<std::size_t>(at)][static_cast<std::size_t>(column)],
            shown_table.columns[static_cast<std::size_t>(column)]);
    };
    content.style
        = [&](int, int column) { return static_cast<std::size_t>(column) == first + column_ ? kBold : Style{}; };
    view_.draw(canvas, {row, place.column, place.row + place.rows - row, place.columns}, content);
}

bool SweepGrid::key(const Key& key)
{
    const std::size_t count = grid_.gpus.size();
    if (key.code == Key::click)
        return click(key);
    if ((key.code == Key::left || key.is('h')) && column_ > 0)
        --column_;
    else if ((key.code == Key::right || key.is('l')) && column_ + 1 < count)
        ++column_;
    else if (key.code == Key::enter)
        apply();
    else if (key.is('C')) {
        if (const std::optional<ResolvedPlan> cell = chosen(); cell && compare)
            compare(*cell);
    } else if (key.is('b'))
        ask_figure();
    else if (key.is('t'))
        ask_table();
    else if (key.is('e'))
        desk_.exports().ask(
            "sweep", [this] { return table(TableFormat::csv); }, Picture([this] { return Chart(picture()); }));
    else
        return view_.key(key, static_cast<int>(grid_.layouts.size()));
    return true;
}

// Chooses a cell; a second click puts it into the plan.
bool SweepGrid::click(const Key& key)
{
    const int first = static_cast<int>(table(TableFormat::text).columns.size() - grid_.gpus.size());
    const int column = view_.column_at(key) - first;
    const bool again = view_.is_on_chosen(key) && column == static_cast<int>(column_);
    if (!view_.key(key, static_cast<int>(grid_.layouts.size())))
        return false;
    if (column >= 0 && column < static_cast<int>(grid_.gpus.size()))
        column_ = static_cast<std::size_t>(column);
    if (again)
        apply();
    return true;
}

TileChart SweepGrid::picture() const
{
    TileChart chart = view::grid_chart(grid_, value_, measured_.get());
    chart.note = said();
    return chart;
}

void SweepGrid::ask_figure()
{
    std::vector<Picker::Item> items;
    for (std::size_t i = 0; i < kWords<GridValue>.size(); ++i)
        items.push_back({view::grid_value_label(static_cast<GridValue>(i)), std::string(kWords<GridValue>[i]),
            [this, i] { value_ = static_cast<GridValue>(i); }});
    desk_.open(std::make_unique<Picker>("Figure", std::move(items)));
}

void SweepGrid::ask_table()
{
    std::vector<Picker::Item> items{{"Layouts around the plan", "predicted alone", [this] {
                                         beside_.reset();
                                         base_.reset();
                                     }}};
    const auto take = [this](const std::filesystem::path& file) {
        const Expected<MeasuredTable> read = view::read_table(file, desk_.presets());
        if (!read) {
            desk_.tell(read.error().line(), view::Tone::bad);
            return;
        }
        beside_ = std::make_shared<const MeasuredTable>(*read);
        table_name_ = file.stem().string();
        base_.reset(); // predicted anew
    };
    std::ranges::move(table_items(desk_, take), std::back_inserter(items));
    desk_.open(std::make_unique<Picker>("Layouts and measurements", std::move(items)));
}

std::optional<ResolvedPlan> SweepGrid::chosen()
{
    const auto row = static_cast<std::size_t>(view_.list.selected);
    if (!base_ || row >= grid_.layouts.size() || column_ >= grid_.gpus.size())
        return {};
    Expected<ResolvedPlan> cell = plan_of_cell(*base_, grid_.layouts[row], grid_.gpus[column_]);
    if (cell)
        return *std::move(cell);
    desk_.tell(cell.error().line(), view::Tone::bad);
    return {};
}

void SweepGrid::apply()
{
    const std::optional<ResolvedPlan> cell = chosen();
    if (!cell)
        return;
    desk_.apply("Applied the chosen cell", with_layout(desk_.plan().state().plan(), *cell));
    desk_.go(PageId::plan);
}

std::vector<std::string> SweepGrid::lines()
{
    std::vector<std::string> lines{said()};
    if (!grid_.layouts.empty())
        speak_rows(lines, table(TableFormat::text), view_.list.selected, 40);
    return lines;
}

} // namespace fourfold::tui
