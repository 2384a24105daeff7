// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/heat_grid.h"

#include "app/models/shared/text.h"
#include "app/view/compare/grid_chart.h"

#include <algorithm>

namespace fourfold::ui {

namespace {

QString valueText(GridValue kind, double value)
{
    switch (kind) {
    case GridValue::tps_per_gpu:
        return throughputText(value);
    case GridValue::tflops_per_gpu:
        return grouped(value, value < 100 ? 1 : 0);
    case GridValue::mfu:
        return percent(value);
    case GridValue::memory_gib:
        return gib(value);
    case GridValue::step_time_s:
        return duration(value);
    }
    return {};
}

QString statusWord(CellStatus status)
{
    return fromUtf8(name(status)).toUpper();
}

bool hasResult(const MeasuredCell* cell)
{
    return cell && cell->status != CellStatus::not_run && cell->status != CellStatus::invalid;
}

QString predictedWords(const GridCell& cell, GridValue kind)
{
    if (cell.status == GridStatus::impossible)
        return tr("Predicted: impossible. %1").arg(fromUtf8(cell.reason.message));
    const std::optional<double> value = cell.get(kind);
    QString words = tr("Predicted: %1").arg(value ? valueText(kind, *value) : unknownText());
    if (cell.memory_device_gib)
        words += tr(", %1 GiB").arg(gib(*cell.memory_device_gib));
    return cell.status == GridStatus::does_not_fit ? words + tr(", does not fit") : words;
}

QString measuredWords(const MeasuredCell& cell, GridValue kind)
{
    const std::optional<double> value = value_of(cell, kind);
    return tr("Measured: %1 (line %2 of the table)")
        .arg(value ? valueText(kind, *value) : statusWord(cell.status))
        .arg(cell.line);
}

// The colour and the text of a cell for one of the three views.
void fill(HeatCell& cell, const GridCell& predicted, const MeasuredCell* measured, GridValue kind, HeatShow show)
{
    const std::optional<double> mine = value_of(predicted, kind);
    const std::optional<double> theirs = hasResult(measured) ? value_of(*measured, kind) : std::nullopt;
    const auto failed = [&](const QString& text) {
        cell.state = HeatCell::State::failed;
        cell.text = text;
    };
    cell.value = show == HeatShow::predicted ? mine
        : show == HeatShow::measured         ? theirs
        : mine && theirs && *theirs > 0      ? std::optional(*mine / *theirs - 1)
                                             : std::nullopt;
    if (cell.value) {
        cell.state = HeatCell::State::value;
        cell.text = show == HeatShow::error ? signedPercent(*cell.value) : valueText(kind, *cell.value);
    } else if (show == HeatShow::predicted) {
        if (predicted.status == GridStatus::does_not_fit)
            failed(tr("no fit"));
    } else if (hasResult(measured)) { // for an error only one of the two ran
        const bool error = show == HeatShow::error;
        failed(error && mine ? tr("fits in theory") : error && theirs ? tr("no fit") : statusWord(measured->status));
    }
}
} // namespace

const HeatCell* HeatGrid::at(int row, int column) const
{
    if (row < 0 || column < 0 || row >= static_cast<int>(cells.size()) || column >= columns.size())
        return nullptr;
    return &cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}

QString layoutName(const GridLayout& layout)
{
    QString text = QStringLiteral("tp %1, cp %2, pp %3, mb %4")
                       .arg(layout.tp)
                       .arg(layout.cp)
                       .arg(layout.pp)
                       .arg(layout.micro_batch);
    return layout.virtual_stages > 1 ? text + QStringLiteral(", vs %1").arg(layout.virtual_stages) : text;
}

QString gridValueLabel(GridValue value)
{
    return fromUtf8(view::grid_value_label(value));
}

namespace {
// A row per layout, a column per number of GPUs; `fill` makes the cell of a row and a column, and adds to the lines
// that are told of it.
template <typename Fill>
HeatGrid gridOf(const std::vector<GridLayout>& layouts, const std::vector<int>& gpus, GridValue value, HeatShow show,
    const QString& unit, Fill fill)
{
    HeatGrid heat;
    heat.diverging = show == HeatShow::error;
    heat.unit = heat.diverging ? tr("predicted / measured - 1") : gridValueLabel(value);
    for (const int count : gpus)
        heat.columns << grouped(count);
    for (std::size_t row = 0; row < layouts.size(); ++row) {
        heat.rows << layoutName(layouts[row]);
        std::vector<HeatCell>& cells = heat.cells.emplace_back(gpus.size());
        for (std::size_t column = 0; column < gpus.size(); ++column) {
            QStringList lines{tr("%1 on %2").arg(layoutName(layouts[row]), counted(gpus[column], unit))};
            fill(cells[column], row, column, lines);
            cells[column].tip = lines.join(QLatin1Char('\n'));
        }
    }
    return heat;
}

void fillMeasured(HeatCell& cell, const CellResult& known, HeatShow show, QStringList& lines)
{
    const std::optional<double> mine = known.predicted_tps_per_gpu, theirs = known.tps_per_gpu;
    const std::optional<double> error
        = mine && theirs && *theirs > 0 ? std::optional(*mine / *theirs - 1) : std::nullopt;
    cell.value = show == HeatShow::predicted ? mine : show == HeatShow::measured ? theirs : error;
    if (cell.value) {
        cell.state = HeatCell::State::value;
        cell.text = show == HeatShow::error ? signedPercent(*cell.value) : throughputText(*cell.value);
    } else if (known.status != "impossible") {
        cell.state = HeatCell::State::failed;
        cell.text = fromUtf8(known.status).toUpper();
    }
    if (mine)
        lines << tr("Predicted: %1").arg(throughputText(*mine));
    lines << (theirs ? tr("Measured: %1").arg(throughputText(*theirs))
                     : tr("Measured: %1. %2").arg(fromUtf8(known.status), fromUtf8(known.why)));
}
} // namespace

HeatGrid heatOf(const LayoutGrid& grid, GridValue value, const MeasuredGrid* measured, HeatShow show)
{
    const auto fillCell = [&](HeatCell& cell, std::size_t row, std::size_t column, QStringList& lines) {
        const GridCell& predicted = grid.cells[row][column];
        const MeasuredCell* theirs = measured ? measured->find(grid.layouts[row], grid.gpus[column]) : nullptr;
        fill(cell, predicted, theirs, value, show);
        lines << predictedWords(predicted, value);
        if (hasResult(theirs))
            lines << measuredWords(*theirs, value);
    };
    return gridOf(grid.layouts, grid.gpus, value, show, tr("GPU"), fillCell);
}

HeatGrid heatOf(const SweepTable& table, HeatShow show, const std::string& next)
{
    const auto fillCell = [&](HeatCell& cell, std::size_t row, std::size_t column, QStringList& lines) {
        const std::optional<CellResult>& known = table.cells[row][column];
        const bool runs = SweepCell{table.layouts[row], table.gpus[column]}.name() == next; // maybe once more
        if (known && !runs) {
            fillMeasured(cell, *known, show, lines);
            return;
        }
        cell.state = HeatCell::State::waiting;
        cell.text = runs ? tr("running") : QString();
        lines << (runs ? tr("Running now") : tr("Not measured yet"));
    };
    return gridOf(table.layouts, table.gpus, GridValue::tps_per_gpu, show, tr("rank"), fillCell);
}

} // namespace fourfold::ui
