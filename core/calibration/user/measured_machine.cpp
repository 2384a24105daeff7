// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/measured_machine.h"

#include "core/base/parallel.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/cost/context.h"
#include "core/history/run_event.h"
#include "core/plan/written_presets.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <unistd.h>

namespace fourfold {

namespace {

constexpr double kUnsteady = 0.15; // spread of the pace: between its tenth and its ninth decile

constexpr const char* kMeasuredOn = ", measured on ";
constexpr const char* kMeasuredBy = "measured by `fourfold probe --measure` on ";

bool is(const Json& figures, const char* what)
{
    return string_at(figures, "what") == what;
}

double number(const Json& figures, const char* key)
{
    const auto value = number_at(figures, key);
    return value && std::isfinite(*value) && *value > 0 ? *value : 0;
}

// Of one rank with one thread, beside which nothing runs.
bool alone(const Json& figures)
{
    return number(figures, "ranks") == 1 && number(figures, "threads") == 1;
}

double rounded(double value)
{
    return value > 0 ? std::strtod(text_of("%.4g", value).c_str(), nullptr) : 0;
}

// What single operations of one rank reach.
struct Rates {
    double flops = 0, bytes_s = 0; // the fastest product and pass
    double product_share = 0, attention_share = 0; // of the fastest product's rate: the typical product, attention
    double launch_s = 0;
};

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

Rates rates_of(const std::vector<Json>& figures)
{
    Rates rates;
    std::vector<double> products, attention;
    for (const Json& one : figures) {
        const double seconds = number(one, "seconds");
        if (!alone(one) || seconds <= 0)
            continue;
        if (is(one, "product"))
            products.push_back(2 * number(one, "m") * number(one, "n") * number(one, "k") / seconds);
        if (is(one, "attention")) // causal: half of 4 s^2 d
            attention.push_back(
                2 * std::pow(number(one, "queries"), 2) * number(one, "head_dim") * number(one, "batch") / seconds);
        if (is(one, "pass"))
            rates.bytes_s = std::max(rates.bytes_s, number(one, "bytes") / seconds);
        if (is(one, "launch"))
            rates.launch_s = seconds;
    }
    if (products.empty())
        return rates;
    rates.flops = *std::max_element(products.begin(), products.end());
    rates.product_share = median(std::move(products)) / rates.flops;
    rates.attention_share = median(std::move(attention)) / rates.flops;
    return rates;
}

// One message between two ranks that have a core each.
struct Wire {
    double message_s = 0, byte_s = 0;
};

// Least squares of the relative error, t = share (messages x message_s + bytes x byte_s): what a rank sends in a group
// of p ranks, each to every other one (comm/direct.h) or round the ring (comm/ring.h). Ranks beyond the cores share
// them.
Wire wire_of(const std::vector<Json>& figures, double cores)
{
    double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0;
    for (const Json& one : figures) {
        const double p = number(one, "group"), bytes = number(one, "bytes"), seconds = number(one, "seconds");
        if (!is(one, "collective") || p < 2 || seconds <= 0 || number(one, "nodes") > 1)
            continue;
        const double share = std::max(1.0, p * number(one, "groups") / cores);
        const std::string kind = string_at(one, "kind");
        const double rounds = kind == "all_reduce" ? 2 : 1;
        const double messages = kind == "send_receive" ? 1 : rounds * (p - 1);
        const double moved = kind == "send_receive" ? bytes : rounds * bytes * (p - 1) / p;
        const double x = share * messages / seconds, y = share * moved / seconds;
        xx += x * x;
        xy += x * y;
        yy += y * y;
        x1 += x;
        y1 += y;
    }
    const double determinant = xx * yy - xy * xy;
    if (determinant <= 0)
        return {};
    return {(x1 * yy - y1 * xy) / determinant, (y1 * xx - x1 * xy) / determinant};
}

// What steps tell of a machine of CPU ranks; each starts from what single operations reach.
FitSet machine_set()
{
    const auto ratio = [](const char* name, double width, double low, double high) {
        return FittedConstant{.name = name, .prior = std::sqrt(low * high), .width = width, .low = low, .high = high};
    };
    FitSet set;
    set.name = "machine";
    set.shared = {
        ratio("gemm_efficiency", 0.2, 0.02, 1),
        ratio("attention_efficiency", 0.4, 0.005, 1),
        ratio("elementwise_efficiency", 0.7, 0.005, 1),
        ratio("cross_entropy_bytes", 0.5, 2, 1000),
        ratio("kernel_floor_s", 0.7, 1e-7, 1e-3),
        ratio("layer_floor_forward_s", 0.7, 1e-6, 0.01),
        ratio("layer_floor_backward_s", 0.7, 1e-6, 0.02),
        ratio("micro_batch_overhead_s", 0.7, 1e-5, 0.02),
        ratio("step_overhead_s", 0.7, 1e-5, 0.1),
        ratio("intra_node_efficiency", 0.4, 0.01, 1),
        ratio("collective_latency_s", 0.7, 1e-7, 0.01),
        ratio("pipeline_latency_s", 0.7, 1e-6, 0.01),
        ratio("cp_step_s", 0.7, 1e-6, 0.01),
        FittedConstant{.name = "thread_scaling", .prior = 0.7, .width = 0.25, .low = 0, .high = 1, .linear = true},
    };
    return set;
}

// The values that the fit starts from.
std::map<std::string, double> first_values(const Rates& rates, const Wire& wire)
{
    constexpr double kLaunchesForward = 25, kLaunchesBackward = 50; // of a layer, about
    return {{"gemm_efficiency", rates.product_share},
        {"attention_efficiency", std::clamp(rates.attention_share, 0.01, 1.0)}, {"elementwise_efficiency", 0.3},
        {"elementwise_efficiency_compiled", 0.3}, {"kernel_floor_s", 2 * rates.launch_s},
        {"layer_floor_power", 1}, // launches take the core's time: they add to the work
        {"layer_floor_forward_s", kLaunchesForward * rates.launch_s},
        {"layer_floor_backward_s", kLaunchesBackward * rates.launch_s},
        {"micro_batch_overhead_s", kLaunchesForward * rates.launch_s}, {"step_overhead_s", 5e-4},
        {"intra_node_efficiency", 0.8}, {"collective_latency_s", 0.5 * wire.message_s},
        {"pipeline_latency_s", wire.message_s}, {"cp_step_s", wire.message_s}, {"thread_scaling", 0.7},
        {"thread_start_s", 1.5e-5}, // products of 128 x 128 x 128 gain nothing by a second core
        {"gradient_overlap", 0}};
}

std::vector<FitRow> rows_of(const std::vector<Json>& figures, const Cluster& cluster)
{
    std::vector<FitRow> rows;
    for (const Json& one : figures) {
        if (!is(one, "step") || number(one, "step_time_s") <= 0 || !one.contains("plan"))
            continue;
        auto plan = read_resolved(one["plan"], "a measured step");
        if (!plan)
            continue;
        FitRow row;
        row.plan = std::move(*plan);
        row.plan.cluster = cluster;
        row.label = row.plan.name;
        row.step_time_s = number(one, "step_time_s");
        if (const double again = number(one, "repeated_s"); again > 0) { // the clocks changed: less is known
            row.step_time_s = std::sqrt(*row.step_time_s * again);
            row.time_weight = 0.5;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace

double MachineMeasurement::pace_spread() const
{
    double spread = 0;
    for (const Json& one : figures)
        if (is(one, "pace"))
            spread = std::max(spread, number(one, "spread"));
    return spread;
}

Expected<MeasuredMachine> measured_machine(
    const MachineMeasurement& measurement, const Cluster& base, const Stack& stack)
{
    const std::vector<Json>& figures = measurement.figures;
    const double cores = std::max(1U, cores_here());
    const Rates rates = rates_of(figures);
    const Wire wire = wire_of(figures, cores);
    const Problem nothing{
        ProblemCode::failed, "nothing was measured that the planner can use", "measure again", "probe"};
    if (rates.flops <= 0 || rates.bytes_s <= 0)
        return nothing;
    const std::string by = kMeasuredBy + measurement.date;

    Json cluster = to_json(base);
    Json& gpu = cluster["gpu"];
    const bool cpu = base.gpu.is_cpu(); // of GPUs the data sheet's rates stand, and the stack's constants as the start
    if (cpu) {
        gpu["peak_tflops"]["fp32"] = rounded(rates.flops / 1e12);
        gpu["memory_bandwidth_gb_s"] = rounded(rates.bytes_s / 1e9);
        gpu["source"] = {{"peak_tflops", by + ": the fastest product of one rank on a core of its own"},
            {"memory_bandwidth_gb_s", by + ": the fastest elementwise sum of one rank"}};
    }
    if (wire.message_s > 0 && wire.byte_s > 0) {
        Json& node = cluster["intra_node"];
        node["bandwidth_gb_s"] = rounded(1e-9 / wire.byte_s / 0.8); // the fit moves the efficiency, at most 1
        node["latency_us"] = rounded(1e6 * wire.message_s);
        node["hop_us"] = rounded(1e6 * wire.message_s);
        for (const char* key : {"bandwidth_gb_s", "latency_us"})
            cluster["inter_node"][key] = node[key];
    }
    cluster["name"] = base.name.substr(0, base.name.find(kMeasuredOn)) + kMeasuredOn + measurement.date;
    cluster["date"] = measurement.date;
    cluster["source"] = {{"intra_node", by + ": the trainer's collectives and messages in groups of 2, 4 and 8 ranks"}};

    FOURFOLD_TRY(const Gpu measured_gpu, gpu_from_json(gpu, "measured GPU"));
    FOURFOLD_TRY(Cluster measured, cluster_from_json(cluster, measured_gpu, "measured cluster"));
    measured.id = base.id;
    const std::vector<FitRow> rows = rows_of(figures, measured);
    if (rows.empty())
        return nothing;
    Stack start = stack;
    auto& constants = start.gpu_constants[measured.gpu.id];
    const auto first = cpu ? first_values(rates, wire) : std::map<std::string, double>();
    for (const auto& [name, value] : first)
        constants[name] = value;
    FitOptions options;
    options.quantities = {Quantity::time};
    options.time_noise = 0.05;
    options.shrink = false;
    FOURFOLD_TRY(const FitResult fit, fit_stack(start, machine_set(), rows, options));

    MeasuredMachine out;
    out.error = fit.after;
    out.steps = int(rows.size());
    out.compared = Json::array();
    for (const FitRow& row : rows) {
        const Json plan = to_json(row.plan, PresetStyle::ids);
        out.compared.push_back({{"layout", plan["layout"]}, {"training", plan["training"]},
            {"hidden_size", row.plan.model.hidden}, {"measured_s", *row.step_time_s},
            {"predicted_s", predict_row(fit.stack, row).step_time_s.value_or(0)}});
    }
    out.pace_spread = measurement.pace_spread();
    out.unsteady = out.pace_spread > kUnsteady;
    Json kept = Json::object();
    const auto& fitted = fit.stack.gpu_constants.at(measured.gpu.id);
    for (const auto& [name, value] : first)
        kept[name] = value;
    for (const ConstantEstimate& estimate : fit.constants)
        kept[estimate.name] = fitted.at(estimate.name);
    kept["elementwise_efficiency_compiled"] = kept["elementwise_efficiency"];
    // A layout that was not measured scatters more than those that were, and a machine's own change comes on top.
    constexpr double kLeastWidth = 0.15, kDeviations = 2;
    const double width = std::max(kLeastWidth, kDeviations * fit.after.time);
    kept["interval_node"] = rounded(std::hypot(width, out.pace_spread));
    cluster["calibration"] = {{"stack", stack.id}, {"constants", std::move(kept)}, {"date", measurement.date},
        {"source",
            by
                + text_of(": steps of %d plans on 1 to 8 ranks, mean error %.1f %%%s", out.steps, 100 * fit.after.time,
                    out.unsteady ? "; the machine's clocks changed meanwhile" : "")}};
    out.cluster = std::move(cluster);
    return out;
}

Expected<std::filesystem::path> machine_file(const std::string& id)
{
    const auto file = config_folder() / "presets/clusters" / (id + ".json");
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
        const auto before = read_json_file(file);
        if (!before || !came_from_fourfold(*before))
            return Problem{ProblemCode::refused, "exists and does not come from a measurement",
                "move it away, or choose another id with --save-cluster", file.string()};
    }
    FOURFOLD_CHECK(make_folders(file.parent_path()));
    if (::access(file.parent_path().c_str(), W_OK) != 0)
        return Problem{ProblemCode::io, std::string("cannot be written: ") + std::strerror(errno),
            "change its permissions", file.parent_path().string()};
    return file;
}

Expected<std::filesystem::path> save_machine(const MeasuredMachine& machine, const std::string& id)
{
    FOURFOLD_TRY(const std::filesystem::path file, machine_file(id));
    Json preset = {{"id", id}};
    preset.update(machine.cluster);
    FOURFOLD_CHECK(write_file_atomically(file, preset.dump(2) + "\n"));
    return file;
}

std::string to_text(const MeasuredMachine& machine)
{
    const Json& gpu = machine.cluster["gpu"];
    const Json& node = machine.cluster["intra_node"];
    std::string text = text_of("a rank multiplies at up to %.3g TFLOP/s and moves %.3g GB/s; a message takes %.3g us\n",
        gpu["peak_tflops"].value("fp32", 0.0), gpu.value("memory_bandwidth_gb_s", 0.0), node.value("latency_us", 0.0));
    text += text_of("steps of %d plans: the cost model meets them within %.1f %% on average\n", machine.steps,
        100 * machine.error.time);
    if (machine.unsteady)
        text
            += text_of("warning: the same product took %.0f %% longer at times (clocks, or other work): plans that it "
                       "met were measured twice and ranges are that much wider; measure again when nothing else runs\n",
                100 * machine.pace_spread);
    return text;
}

Json to_json(const MeasuredMachine& machine)
{
    return {{"cluster", machine.cluster}, {"plans", machine.steps}, {"steps", machine.compared},
        {"mean_error", machine.error.time}, {"pace_spread", machine.pace_spread}, {"unsteady", machine.unsteady}};
}

} // namespace fourfold
