// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/planning/shape_search.h"

#include "app/cli/planning/table_file.h"
#include "core/base/text.h"
#include "core/calibration/measured_grid.h"
#include "core/calibration/measured_shapes.h"

#include <iostream>

namespace fourfold::cli {

namespace {

Cell number_cell(std::int64_t value)
{
    return value;
}

std::string reasons_text(const ShapeWaste& waste)
{
    return waste.reasons.empty() ? "-" : joined(waste.reasons, "; ");
}

Table shape_table(const ShapeResult& result, int top)
{
    Table table;
    table.columns = {{"layers", "layers"}, {"hidden", "hidden"}, {"heads", "heads"}, {"head_dim", "head dim"},
        {"kv_heads", "KV heads"}, {"ffn", "MLP"}, {"parameters", "10^9 params", 2, 1e-9}, {"tp", "TP"}, {"cp", "CP"},
        {"pp", "PP"}, {"dp", "DP"}, {"micro_batch", "MBS"}, {"tps_per_gpu", "TPS/GPU"}, {"mfu", "MFU", 1, 100, " %"},
        {"gpu_seconds", "GPU s / 10^6 tokens", 2}, {"loss", "loss", 1, 100, " %"},
        {"memory_device_gib", "device GiB", 1}, {"fit", "fit"}, {"tiles", "tiles", 1, 100, " %"},
        {"waves", "waves", 1, 100, " %"}, {"attention", "attention", 1, 100, " %"}, {"wastes", "wastes"}};
    for (const FoundShape& shape : result.shapes) {
        if (table.rows.size() >= static_cast<std::size_t>(top))
            break;
        const ModelShape& model = shape.plan.model;
        const Layout& layout = shape.plan.layout;
        table.rows.push_back({number_cell(model.layers), number_cell(model.hidden), number_cell(model.heads),
            number_cell(model.head_dim), number_cell(model.kv_heads), number_cell(model.ffn), shape.parameters,
            number_cell(layout.tp), number_cell(layout.cp), number_cell(layout.pp), number_cell(layout.dp),
            number_cell(shape.plan.training.micro_batch), shape.tps_per_gpu, shape.mfu, shape.gpu_seconds, shape.loss,
            shape.memory_device_gib, std::string(name(shape.fit)), shape.waste.tiles, shape.waste.waves,
            shape.waste.attention, reasons_text(shape.waste)});
    }
    return table;
}

Table measured_table_of(const std::vector<ShapeGroup>& groups)
{
    Table table;
    table.columns = {{"table", "table"}, {"row", "row"}, {"layers", "layers"}, {"hidden", "hidden"}, {"heads", "heads"},
        {"head_dim", "head dim"}, {"gpus", "GPUs"}, {"micro_batch", "MBS"},
        {"measured_tps_per_gpu", "measured TPS/GPU", 1}, {"predicted_tps_per_gpu", "predicted", 1},
        {"measured_loss", "measured loss", 1, 100, " %"}, {"predicted_loss", "predicted loss", 1, 100, " %"},
        {"wasteful", "wasteful"}, {"wastes", "wastes"}};
    for (const ShapeGroup& group : groups) {
        for (const MeasuredShape& shape : group.shapes) {
            const ModelShape& model = shape.row->plan.model;
            const bool measured = shape.measured_loss > kWastefulShape,
                       predicted = shape.predicted_loss > kWastefulShape;
            const char* verdict
                = measured ? (predicted ? "yes, predicted" : "yes, MISSED") : (predicted ? "no, FALSE ALARM" : "no");
            table.rows.push_back({group.table, shape.row->row, number_cell(model.layers), number_cell(model.hidden),
                number_cell(model.heads), number_cell(model.head_dim), number_cell(shape.row->plan.gpus),
                number_cell(shape.row->plan.training.micro_batch), shape.measured_tps, shape.predicted_tps,
                shape.measured_loss, shape.predicted_loss, verdict, reasons_text(shape.waste)});
        }
    }
    return table;
}

} // namespace

void ShapeOptions::add_to(CLI::App& command)
{
    auto* flag = command.add_flag("--shape", shape,
        "instead of layouts: models of one size with other layers, hidden and heads, and what they waste");
    command.add_option("--parameters", parameters, "with --shape: the size, e.g. 8e9 (default: the plan's model)")
        ->check(number_up_to(1e18))
        ->needs(flag);
    command.add_option("--size-tolerance", tolerance, "with --shape: share by which a shape may miss it (0.03)")
        ->check(number_up_to(0.5))
        ->needs(flag);
    command.add_flag("--with-layouts", with_layouts, "with --shape: each shape with the best of its layouts")
        ->needs(flag);
    command
        .add_option("--measured", measured,
            "with --shape: instead, the shapes of a measured table (a CSV file or the name of a published one), the "
            "measured loss beside the predicted one")
        ->type_name("FILE")
        ->needs(flag);
}

Expected<ShapeSpace> shape_space(const ShapeOptions& options, std::vector<std::string>& axes)
{
    ShapeSpace space;
    space.parameters = options.parameters;
    space.tolerance = options.tolerance;
    std::vector<std::string> rest;
    for (const std::string& axis : axes) {
        const std::string key = axis.substr(0, axis.find('='));
        std::vector<int>* values = key == "layers" ? &space.layers
            : key == "hidden"                      ? &space.hidden
            : key == "heads"                       ? &space.heads
                                                   : nullptr;
        if (!values || key == axis) {
            rest.push_back(axis);
            continue;
        }
        const std::string written = axis.substr(key.size() + 1);
        auto read = read_grid_gpus(written, "--axis " + key);
        if (!read)
            return Problem{ProblemCode::bad_input,
                "found " + in_quotes(written) + ", expected whole numbers from 1 on, such as 8,16,32", "",
                "--axis " + key};
        *values = *std::move(read);
    }
    axes = std::move(rest);
    return space;
}

int run_shapes(const ShapeRequest& request, int top, TableFormat format)
{
    const ShapeResult result = search_shapes(request);
    const Table table = shape_table(result, top);
    if (format == TableFormat::json) {
        print_json({{"parameters", result.parameters}, {"tried", result.tried}, {"broken_rules", result.broken_rules},
            {"shapes", table.to_json()}});
    } else if (!result.shapes.empty()) {
        if (format == TableFormat::text)
            std::cout << shown_number(double(result.tried), 0) << " shapes of "
                      << shown_number(result.parameters / 1e9, 2) << " billion parameters, "
                      << shown_number(double(result.broken_rules), 0)
                      << " of them break a rule; GPU seconds at exactly that size\n\n";
        std::cout << table.write(format);
    }
    if (!result.shapes.empty())
        return kDone;
    return fail({ProblemCode::failed,
        result.tried == 0 ? "no shape has " + shown_number(result.parameters, 0) + " parameters within the tolerance"
                          : "every one of " + std::to_string(result.tried) + " shapes breaks a rule of the layout",
        result.tried == 0 ? "widen --size-tolerance or the axes layers, hidden and heads"
                          : "try --with-layouts, or axes of heads that tp divides",
        ""});
}

Expected<int> run_measured_shapes(const std::string& name, const Presets& presets, TableFormat format)
{
    FOURFOLD_TRY(const auto table, load_measured_table(name, presets));
    const std::vector<ShapeGroup> groups = measured_shapes(table);
    const Table rows = measured_table_of(groups);
    const ShapeAgreement found = agreement(groups);
    if (format == TableFormat::json) {
        print_json({{"shapes", found.shapes}, {"wasteful", found.wasteful}, {"found", found.found},
            {"false_alarms", found.false_alarms}, {"rows", rows.to_json()}});
        return kDone;
    }
    std::cout << rows.write(format);
    if (format == TableFormat::text || format == TableFormat::markdown)
        std::cout << "\n"
                  << found.wasteful << " of " << found.shapes << " shapes lose more than "
                  << shown_number(100 * kWastefulShape, 0) << " % against the best of their table; the model names "
                  << found.found << " of them, with " << found.false_alarms << " false alarms\n";
    return groups.empty()
        ? fail({ProblemCode::failed, "no two rows of this table have the same layout and other shapes", "", name})
        : kDone;
}

} // namespace fourfold::cli
