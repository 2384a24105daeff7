// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/presets.h"
#include "core/predict/bounds.h"
#include "core/predict/prediction.h"

#include <algorithm>

namespace fourfold {
namespace {

constexpr std::array kHiddenParts{Part::tp, Part::cp, Part::pp, Part::dp, Part::ep};

Json to_json(const Range& range)
{
    return Json::array({number_or_null(range.low), number_or_null(range.high)});
}

Json to_json(const StageMemory& stage)
{
    return {{"stage", stage.stage}, {"weights", number_or_null(stage.weights)},
        {"gradients", number_or_null(stage.gradients)}, {"optimizer", number_or_null(stage.optimizer)},
        {"activations", number_or_null(stage.activations)}, {"other", number_or_null(stage.other)},
        {"total", number_or_null(stage.total())}};
}

Json to_json(const Reason& reason)
{
    Json json{{"code", reason.code}, {"field", reason.field}, {"message", reason.message}};
    if (!reason.nearest.empty()) {
        Json nearest = Json::parse(reason.nearest, nullptr, false);
        json["nearest"] = nearest.is_discarded() ? Json(reason.nearest) : nearest;
    }
    return json;
}

// A key that may be null or absent.
Expected<std::optional<double>> optional_number(const Json& json, const char* key, const std::string& where)
{
    const auto found = json.find(key);
    if (found == json.end() || found->is_null())
        return std::optional<double>();
    if (!found->is_number())
        return Problem{
            ProblemCode::bad_input, std::string(key) + " must be a number or null, found " + found->dump(), "", where};
    return std::optional<double>(found->get<double>());
}

Expected<double> number_or_zero(const Json& json, const char* key, const std::string& where)
{
    FOURFOLD_TRY(const std::optional<double> value, optional_number(json, key, where));
    return value.value_or(0);
}

Expected<std::string> text_or_empty(const Json& json, const char* key, const std::string& where)
{
    const auto found = json.find(key);
    if (found == json.end() || found->is_null())
        return std::string();
    if (!found->is_string())
        return Problem{ProblemCode::bad_input, std::string(key) + " must be text, found " + found->dump(), "", where};
    return found->get<std::string>();
}

template <typename Enum, std::size_t count>
Expected<Enum> read_name(
    const Json& json, const char* key, const std::array<Enum, count>& values, const std::string& where)
{
    FOURFOLD_TRY(const std::string text, text_or_empty(json, key, where));
    std::string expected;
    for (Enum value : values) {
        if (text == name(value))
            return value;
        expected += (expected.empty() ? "" : ", ") + std::string(name(value));
    }
    return Problem{
        ProblemCode::bad_input, std::string(key) + " is '" + text + "', expected one of " + expected, "", where};
}

Expected<Range> read_range(const Json& json, const char* key, const std::string& where)
{
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array() || found->size() != 2 || !(*found)[0].is_number()
        || !(*found)[1].is_number())
        return Problem{ProblemCode::bad_input, std::string("interval.") + key + " must be [low, high]", "", where};
    return Range{(*found)[0].get<double>(), (*found)[1].get<double>()};
}

Expected<void> read_lists(const Json& json, const std::string& where, Prediction& prediction)
{
    for (const Json& reason : json.value("reasons", Json::array())) {
        if (!reason.is_object())
            return Problem{ProblemCode::bad_input, "reasons must hold objects", "", where};
        FOURFOLD_TRY(const std::string code, text_or_empty(reason, "code", where));
        FOURFOLD_TRY(const std::string field, text_or_empty(reason, "field", where));
        FOURFOLD_TRY(const std::string message, text_or_empty(reason, "message", where));
        prediction.reasons.push_back(
            {code, field, message, reason.contains("nearest") ? reason["nearest"].dump() : ""});
    }
    for (const Json& warning : json.value("warnings", Json::array())) {
        if (!warning.is_string())
            return Problem{ProblemCode::bad_input, "warnings must hold text", "", where};
        prediction.warnings.push_back(warning.get<std::string>());
    }
    for (const Json& stage : json.value("memory_by_stage", Json::array())) {
        if (!stage.is_object())
            return Problem{ProblemCode::bad_input, "memory_by_stage must hold objects", "", where};
        StageMemory memory;
        FOURFOLD_TRY(const double index, number_or_zero(stage, "stage", where));
        memory.stage = int(index);
        FOURFOLD_TRY(memory.weights, number_or_zero(stage, "weights", where));
        FOURFOLD_TRY(memory.gradients, number_or_zero(stage, "gradients", where));
        FOURFOLD_TRY(memory.optimizer, number_or_zero(stage, "optimizer", where));
        FOURFOLD_TRY(memory.activations, number_or_zero(stage, "activations", where));
        FOURFOLD_TRY(memory.other, number_or_zero(stage, "other", where));
        prediction.memory_by_stage.push_back(memory);
    }
    return {};
}

Expected<void> read_roofline(const Json& json, const std::string& where, Prediction& prediction)
{
    const auto found = json.find("roofline"); // older predictions have none
    if (found == json.end() || !found->is_object())
        return {};
    FOURFOLD_TRY(prediction.least.step_s, number_or_zero(*found, "step_time_s", where));
    FOURFOLD_TRY(const std::string limit, text_or_empty(*found, "limit", where));
    const auto named = std::find(kLimitNames.begin(), kLimitNames.end(), limit);
    if (named == kLimitNames.end())
        return Problem{ProblemCode::bad_input,
            "roofline.limit is '" + limit + "', expected one of compute, memory, node_links, network", "", where};
    prediction.least.limit = static_cast<Limit>(named - kLimitNames.begin());
    prediction.at_least = found->value("reached", Json()) == true;
    return {};
}

Expected<void> read_times(const Json& json, const std::string& where, Prediction& prediction)
{
    const auto read = [&](const char* key, PartTimes& times) -> Expected<void> {
        const auto found = json.find(key);
        if (found == json.end() || found->is_null())
            return {};
        if (!found->is_object())
            return Problem{ProblemCode::bad_input, std::string(key) + " must be an object", "", where};
        for (int part = 0; part < kParts; ++part) {
            const std::string part_name(name(static_cast<Part>(part)));
            FOURFOLD_TRY(
                times.seconds[static_cast<std::size_t>(part)], number_or_zero(*found, part_name.c_str(), where));
        }
        return {};
    };
    FOURFOLD_CHECK(read("time_by_part", prediction.time_by_part));
    return read("time_hidden", prediction.time_hidden);
}

Expected<void> read_own_shift(const Json& json, const std::string& where, Prediction& prediction)
{
    const auto found = json.find("own_runs"); // older predictions have none
    if (found == json.end() || !found->is_object())
        return {};
    OwnShift shift;
    FOURFOLD_TRY(const double runs, number_or_zero(*found, "runs", where));
    FOURFOLD_TRY(shift.share, number_or_zero(*found, "share", where));
    FOURFOLD_TRY(shift.factor, number_or_zero(*found, "factor", where));
    shift.runs = int(std::clamp(runs, 0.0, 1e6));
    prediction.own_shift = shift;
    return {};
}

Expected<ResolvedPlan> read_plan_of(const Json& json, const std::string& where)
{
    const auto plan = json.find("plan");
    if (plan == json.end() || !plan->is_object())
        return Problem{ProblemCode::bad_input, "plan is missing, expected the resolved plan", "", where};
    FOURFOLD_TRY(const Plan document, plan_from_json(*plan, where));
    return resolve(document, Presets());
}

} // namespace

Json to_json(const Prediction& prediction)
{
    Json json;
    json["feasible"] = prediction.feasible;
    json["fit"] = prediction.memory_gib ? Json(std::string(name(prediction.fit))) : Json(nullptr);
    json["reasons"] = Json::array();
    for (const Reason& reason : prediction.reasons)
        json["reasons"].push_back(to_json(reason));
    json["warnings"] = prediction.warnings;
    json["evidence"] = std::string(name(prediction.evidence));
    json["step_time_s"] = number_or_null(prediction.step_time_s);
    json["tps_per_gpu"] = number_or_null(prediction.tps_per_gpu);
    json["tflops_per_gpu"] = number_or_null(prediction.tflops_per_gpu);
    json["mfu"] = number_or_null(prediction.mfu);
    json["mfu_bf16_peak"] = number_or_null(prediction.mfu_bf16_peak);
    json["mfu_causal"] = number_or_null(prediction.mfu_causal);
    json["interval"] = nullptr;
    if (prediction.interval) {
        const Interval& interval = *prediction.interval;
        json["interval"] = {{"confidence", interval.confidence}, {"step_time_s", to_json(interval.step_time_s)},
            {"tps_per_gpu", to_json(interval.tps_per_gpu)}, {"memory_gib", to_json(interval.memory_gib)}};
    }
    json["nearest_measured"] = nullptr;
    if (const auto& nearest = prediction.nearest)
        json["nearest_measured"] = {{"source", nearest->source}, {"row", nearest->row}, {"tp", nearest->tp},
            {"cp", nearest->cp}, {"pp", nearest->pp}, {"dp", nearest->dp}, {"micro_batch", nearest->micro_batch},
            {"same", nearest->same}, {"error", number_or_null(nearest->error)}, {"inside", nearest->inside}};
    json["own_runs"] = nullptr;
    if (const auto& shift = prediction.own_shift)
        json["own_runs"] = {{"runs", shift->runs}, {"share", shift->share}, {"factor", shift->factor}};
    json["memory_gib"] = number_or_null(prediction.memory_gib);
    json["memory_device_gib"] = number_or_null(prediction.memory_device_gib);
    json["memory_capacity_gib"] = number_or_null(prediction.memory_capacity_gib);
    json["memory_by_stage"] = Json::array();
    for (const StageMemory& stage : prediction.memory_by_stage)
        json["memory_by_stage"].push_back(to_json(stage));
    json["time_by_part"] = nullptr;
    json["time_hidden"] = nullptr;
    json["bubble_fraction"] = nullptr;
    json["roofline"] = nullptr;
    if (prediction.step_time_s) {
        json["time_by_part"] = Json::object();
        for (int part = 0; part < kParts; ++part)
            json["time_by_part"][std::string(name(static_cast<Part>(part)))]
                = number_or_null(prediction.time_by_part[static_cast<Part>(part)]);
        json["time_hidden"] = Json::object();
        for (Part part : kHiddenParts)
            json["time_hidden"][std::string(name(part))] = number_or_null(prediction.time_hidden[part]);
        json["bubble_fraction"] = number_or_null(prediction.bubble_fraction);
        const Roofline& least = prediction.least;
        json["roofline"] = {{"step_time_s", number_or_null(least.step_s)},
            {"limit", kLimitNames[static_cast<std::size_t>(least.limit)]}, {"reached", prediction.at_least}};
    }
    json["bounds"] = to_json(bounds_of(prediction.plan));
    json["plan"] = to_json(prediction.plan, PresetStyle::ids);
    return json;
}

Expected<Prediction> prediction_from_json(const Json& json, const std::string& where)
{
    if (!json.is_object())
        return Problem{ProblemCode::bad_input, "a prediction must be an object, found " + std::string(json.type_name()),
            "", where};
    for (const char* key : {"reasons", "warnings", "memory_by_stage"}) {
        if (json.contains(key) && !json[key].is_array())
            return Problem{ProblemCode::bad_input, std::string(key) + " must be a list", "", where};
    }
    Prediction prediction;
    if (!json.contains("feasible") || !json["feasible"].is_boolean())
        return Problem{ProblemCode::bad_input, "feasible is missing, expected true or false", "", where};
    prediction.feasible = json["feasible"].get<bool>();
    if (json.contains("fit") && !json["fit"].is_null()) {
        FOURFOLD_TRY(prediction.fit, read_name(json, "fit", std::array{Fit::fits, Fit::tight, Fit::no}, where));
    }
    FOURFOLD_TRY(prediction.evidence,
        read_name(
            json, "evidence", std::array{Evidence::measured, Evidence::calibrated, Evidence::extrapolated}, where));
    FOURFOLD_TRY(prediction.step_time_s, optional_number(json, "step_time_s", where));
    FOURFOLD_TRY(prediction.tps_per_gpu, optional_number(json, "tps_per_gpu", where));
    FOURFOLD_TRY(prediction.tflops_per_gpu, optional_number(json, "tflops_per_gpu", where));
    FOURFOLD_TRY(prediction.mfu, optional_number(json, "mfu", where));
    FOURFOLD_TRY(prediction.mfu_bf16_peak, optional_number(json, "mfu_bf16_peak", where));
    FOURFOLD_TRY(prediction.mfu_causal, optional_number(json, "mfu_causal", where));
    FOURFOLD_TRY(prediction.memory_gib, optional_number(json, "memory_gib", where));
    FOURFOLD_TRY(prediction.memory_device_gib, optional_number(json, "memory_device_gib", where));
    FOURFOLD_TRY(prediction.memory_capacity_gib, number_or_zero(json, "memory_capacity_gib", where));
    FOURFOLD_TRY(prediction.bubble_fraction, number_or_zero(json, "bubble_fraction", where));
    if (const auto found = json.find("interval"); found != json.end() && !found->is_null()) {
        if (!found->is_object())
            return Problem{ProblemCode::bad_input, "interval must be an object or null", "", where};
        Interval interval;
        FOURFOLD_TRY(interval.confidence, number_or_zero(*found, "confidence", where));
        FOURFOLD_TRY(interval.step_time_s, read_range(*found, "step_time_s", where));
        FOURFOLD_TRY(interval.tps_per_gpu, read_range(*found, "tps_per_gpu", where));
        FOURFOLD_TRY(interval.memory_gib, read_range(*found, "memory_gib", where));
        prediction.interval = interval;
    }
    FOURFOLD_CHECK(read_lists(json, where, prediction));
    FOURFOLD_CHECK(read_times(json, where, prediction));
    FOURFOLD_CHECK(read_roofline(json, where, prediction));
    FOURFOLD_CHECK(read_own_shift(json, where, prediction));
    FOURFOLD_TRY(prediction.plan, read_plan_of(json, where));
    return prediction;
}

} // namespace fourfold
