// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/calibrate.h"
#include "core/base/sha256.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <set>

namespace fourfold {
namespace {

constexpr std::size_t kFewestForLeavingOut = 3;
constexpr std::size_t kMostFolds = 10;

std::string today()
{
    const std::time_t now = std::time(nullptr);
    std::tm day{};
    gmtime_r(&now, &day);
    char text[16];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &day)};
}

// Tells a measurement from others: the plan without its stack, whose constants the fit replaces, and what came of it.
std::string digest(const FitRow& row)
{
    Json plan = to_json(row.plan, PresetStyle::ids);
    plan.erase("stack");
    plan["outcome"] = row.outcome == Outcome::ran ? "ran" : "out of memory";
    plan["step_time_s"] = row.step_time_s.value_or(0);
    plan["measured_memory_gib"] = row.memory_gib.value_or(0);
    constexpr std::size_t kEnough = 16;
    return sha256_hex(plan.dump()).substr(0, kEnough);
}

// The rows that a calibrated preset was fitted to; of one that ships, none.
Expected<std::vector<std::string>> rows_of_preset(const Presets& presets, const CalibrationRequest& request)
{
    FOURFOLD_TRY(const auto file,
        presets.file(
            request.cluster ? "clusters" : "stacks", request.cluster.value_or(written_stack(request.stack).id)));
    FOURFOLD_TRY(const Json json, read_json_file(file));
    std::vector<std::string> rows;
    if (json.contains("calibrated_rows") && json["calibrated_rows"].is_array()) {
        for (const Json& row : json["calibrated_rows"]) {
            if (row.is_string())
                rows.push_back(row.get<std::string>());
        }
    }
    return rows;
}

// What a cluster has of its own: its links, and the clocks that its GPUs hold.
FitSet cluster_set(const FitSet& set)
{
    FitSet own;
    own.name = set.name;
    own.gpus = set.gpus;
    own.overall_width = set.overall_width;
    for (const auto* constants : {&set.shared, &set.per_gpu}) {
        for (const FittedConstant& constant : *constants) {
            if (constant.name == "gemm_efficiency" || constant.name == "intra_node_efficiency"
                || constant.name == "inter_node_efficiency")
                own.shared.push_back(constant);
        }
    }
    return own;
}

const std::string& software_of(const Stack& stack)
{
    return stack.base ? stack.base->id : stack.id;
}

// The release that is asked for, else the one that all rows of the software say; empty: none.
std::string release_of(const CalibrationRequest& request, const Stack& stack)
{
    if (request.cluster || !stack.release.empty() || request.rows.empty())
        return request.cluster ? std::string() : stack.release;
    const std::string& first = request.rows.front().plan.stack.release;
    const bool all = std::ranges::all_of(request.rows, [&](const FitRow& row) {
        return row.plan.stack.release == first && software_of(row.plan.stack) == software_of(stack);
    });
    return all ? first : std::string();
}

void add(FitError& sum, const FitError& one)
{
    sum.time += one.time * one.time_rows;
    sum.time_bias += one.time_bias * one.time_rows;
    sum.memory += one.memory * one.memory_rows;
    sum.memory_gib += one.memory_gib * one.memory_rows;
    sum.time_rows += one.time_rows;
    sum.memory_rows += one.memory_rows;
    sum.cells += one.cells;
    sum.right += one.right;
}

Expected<FitError> leave_out(
    const Stack& base, const FitSet& set, const std::vector<FitRow>& rows, const FitOptions& options)
{
    const std::size_t folds = std::min(kMostFolds, rows.size());
    FitError sum;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<FitRow> seen, held;
        for (std::size_t i = 0; i < rows.size(); ++i)
            (i % folds == fold ? held : seen).push_back(rows[i]);
        auto fit = fit_stack(base, set, seen, options);
        if (fit)
            add(sum, fit_error(fit->stack, held));
    }
    const double time_rows = std::max(1, sum.time_rows), memory_rows = std::max(1, sum.memory_rows);
    sum.time /= time_rows;
    sum.time_bias /= time_rows;
    sum.memory /= memory_rows;
    sum.memory_gib /= memory_rows;
    return sum;
}

std::vector<ConstantEstimate> those(
    const std::vector<ConstantEstimate>& constants, bool (*wanted)(const ConstantEstimate&))
{
    std::vector<ConstantEstimate> chosen;
    std::copy_if(constants.begin(), constants.end(), std::back_inserter(chosen), wanted);
    return chosen;
}

} // namespace

std::vector<ConstantEstimate> Calibration::moved() const
{
    return those(fit.constants, [](const ConstantEstimate& constant) { return constant.moved(); });
}

std::vector<ConstantEstimate> Calibration::undetermined() const
{
    return those(
        fit.constants, [](const ConstantEstimate& constant) { return constant.influences && !constant.determined(); });
}

std::vector<ConstantEstimate> Calibration::unseen() const
{
    return those(fit.constants, [](const ConstantEstimate& constant) { return !constant.influences; });
}

Expected<Calibration> calibrate(const Presets& presets, const CalibrationRequest& request)
{
    FOURFOLD_TRY(Stack base, presets.stack(request.stack));
    const std::string release = release_of(request, base);
    if (!release.empty())
        base.use_release(release);
    FOURFOLD_TRY(std::vector<std::string> fitted, rows_of_preset(presets, request));
    const std::set<std::string> known(fitted.begin(), fitted.end());
    std::set<std::string> given; // a table or run that is named twice is one
    std::vector<FitRow> rows;
    std::set<std::string> gpus;
    int known_rows = 0, other_rows = 0;
    for (const FitRow& row : request.rows) {
        const std::string& its = row.plan.stack.release;
        if (!release.empty() && !its.empty() && its != release) {
            ++other_rows;
            continue;
        }
        if (request.cluster && row.plan.cluster.id != *request.cluster)
            continue;
        std::string mark = digest(row);
        if (known.contains(mark) || !given.insert(mark + row.label).second) {
            ++known_rows;
            continue;
        }
        fitted.push_back(std::move(mark));
        rows.push_back(row);
        gpus.insert(row.plan.cluster.gpu.id);
    }
    if (rows.empty() && known_rows > 0)
        return Problem{ProblemCode::bad_input,
            request.cluster.value_or(request.stack) + " was fitted to "
                + (known_rows == 1 ? "this row" : "these " + std::to_string(known_rows) + " rows") + " before",
            "they would count twice; add new ones, or start from the preset that ships", ""};
    if (rows.empty()) {
        const std::string what = request.cluster ? "no measured row ran on cluster " + *request.cluster
                                                 : "there is no measured row of stack " + base.written();
        return Problem{ProblemCode::bad_input, what, "calibration needs at least one run with its step time", ""};
    }
    const FitSet* set = fit_set_for(base.fit, rows.front().plan.cluster.gpu.id);
    if (set == nullptr)
        return Problem{ProblemCode::unsupported, "the preset says nothing of what to fit", "add \"fit\" to it",
            "stack " + request.stack};
    const FitSet used = request.cluster ? cluster_set(*set) : *set;
    if (used.shared.empty() && used.per_gpu.empty() && used.memory.empty())
        return Problem{ProblemCode::unsupported, "the preset fits no constant of links or matrix products", "",
            "stack " + request.stack};
    FitOptions options;
    options.threads = request.threads;
    Calibration calibration;
    calibration.stack = base.id;
    calibration.release = release;
    calibration.other_rows = other_rows;
    calibration.cluster = request.cluster;
    calibration.gpus.assign(gpus.begin(), gpus.end());
    calibration.source = request.source;
    calibration.date = today();
    calibration.rows = std::move(fitted);
    calibration.known_rows = known_rows;
    FOURFOLD_TRY(calibration.fit, fit_stack(base, used, rows, options));
    if (rows.size() >= kFewestForLeavingOut) {
        FOURFOLD_TRY(calibration.left_out, leave_out(base, used, rows, options));
    }
    return calibration;
}

} // namespace fourfold
