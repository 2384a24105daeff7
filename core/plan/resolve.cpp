// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/resolve.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/model/import_report.h"
#include "core/plan/bound_fields.h"
#include "core/plan/derived.h"
#include "core/plan/fields.h"
#include "core/plan/stage_layers.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <cstdlib>

namespace fourfold {

namespace {
constexpr int64_t kMaxVocab = int64_t(1) << 40;

// A problem without a place of its own (an unknown preset) gets the field that named it.
template <typename T>
Expected<T> placed(Expected<T> result, const std::string& where)
{
    if (!result && result.error().where.empty())
        result.error().where = where;
    return result;
}

// `notes`: what a config.json in the plan says that is known to cost something and is left out.
Expected<ModelShape> resolve_model(const Json& written, const std::string& where, const Presets& presets,
    IdPolicy policy, std::vector<std::string>& notes)
{
    const std::string at = at_field(where, "model");
    if (written.is_string())
        return placed(presets.model(written.get<std::string>()), at);
    ImportReport report;
    FOURFOLD_TRY(ModelShape model, model_from_config(written, at, &report));
    for (const ImportReport::Ignored& one : report.ignored) {
        if (one.known)
            notes.push_back("model." + one.key + ": " + one.cost);
    }
    if (policy == IdPolicy::compare_with_presets && !model.id.empty()) {
        const Expected<ModelShape> preset = presets.model(model.id);
        if (!preset || config_from_model(*preset) != config_from_model(model))
            model.id.clear();
    }
    return model;
}

Expected<Cluster> resolve_cluster(
    const Json& written, const std::string& where, const Presets& presets, IdPolicy policy)
{
    const std::string at = at_field(where, "cluster");
    if (written.is_string())
        return placed(presets.cluster(written.get<std::string>()), at);
    const Json& gpu_json = value_at(written, "gpu");
    const std::string gpu_at = at_field(where, "cluster.gpu");
    if (gpu_json.is_null())
        return Problem{ProblemCode::bad_input, "missing, expected a GPU's id or an object", "", gpu_at};
    FOURFOLD_TRY(const Gpu gpu,
        gpu_json.is_string() ? placed(presets.gpu(gpu_json.get<std::string>()), gpu_at)
                             : gpu_from_json(gpu_json, gpu_at));
    FOURFOLD_TRY(Cluster cluster, cluster_from_json(written, gpu, at));
    // No plan writes what was calibrated on a cluster: it is the preset's of its id, or nothing.
    cluster.calibration.reset();
    if (policy == IdPolicy::compare_with_presets && !cluster.id.empty()) {
        Expected<Cluster> preset = presets.cluster(cluster.id);
        if (preset && to_json(*preset) == to_json(cluster))
            cluster.calibration = std::move(preset->calibration);
        else
            cluster.id.clear();
    }
    return cluster;
}

// Sets plan.stack and plan.own_stack.
Expected<void> resolve_stack(const Json& written, const Presets& presets, IdPolicy policy, ResolvedPlan& plan)
{
    const std::string at = at_field(plan.where, "stack");
    if (!written.is_object()) {
        FOURFOLD_TRY(plan.stack, placed(presets.stack(written.is_null() ? "generic" : written.get<std::string>()), at));
        return {};
    }
    FOURFOLD_TRY(plan.stack, stack_from_json(written, at));
    if (policy == IdPolicy::trust)
        return {};
    // A stack that to_json(inlined) wrote has lost its defaults and constants: the preset of its id has them.
    const Expected<Stack> preset = presets.stack(plan.stack.written());
    const bool same = preset && (to_json(*preset) == to_json(plan.stack) || conventions_json(*preset) == written);
    if (same)
        plan.stack = *preset;
    plan.own_stack = !same;
    return {};
}

// What was measured on the cluster itself holds before what was measured of the stack on its kind of GPU, and instead
// of what was measured there with another kernel.
void apply_calibration(ResolvedPlan& plan)
{
    const auto& calibration = plan.cluster.calibration;
    if (!calibration || calibration->stack != plan.stack.id)
        return;
    const std::string& gpu = plan.cluster.gpu.id;
    if (!plan.stack.measured_with(gpu, plan.training.attention)) {
        plan.stack.gpu_constants.erase(gpu);
        plan.stack.measured.erase(gpu);
    }
    for (const auto& [name, value] : calibration->constants)
        plan.stack.gpu_constants[gpu][name] = value;
    if (plan.cluster.gpu.is_cpu())
        plan.notes.push_back("predicted with what was measured here (" + plan.cluster.name + ")");
}

// Data sheets give links in Gb/s, eight times what is written here. The fastest adapter has 1.6 Tb/s (ConnectX-9), the
// fastest links of a GPU 1.8 TB/s each way (NVLink 6).
void note_bits_for_bytes(ResolvedPlan& plan)
{
    const auto note = [&](const char* key, double gb_s, double most, const char* what) {
        if (gb_s > most)
            plan.notes.push_back(text_of("cluster.%s.bandwidth_gb_s %.4g is more than any %s has (%.4g GB/s): if it is "
                                         "in Gb/s, write %.4g",
                key, gb_s, what, most, gb_s / 8));
    };
    constexpr double kFastestAdapter = 200, kFastestLinks = 1800;
    note("inter_node", plan.cluster.inter_node.bandwidth_gb_s, kFastestAdapter, "adapter");
    note("intra_node", plan.cluster.intra_node.bandwidth_gb_s, kFastestLinks, "GPU");
}

// Keys of a cluster's or a GPU's preset that nothing reads, as of a plan's own object.
std::vector<std::string> unread_fields(const Json& preset, const std::string& pattern)
{
    std::vector<std::string> keys;
    (void)check_types(preset, pattern, "", "", &keys); // what is of a wrong kind was refused before
    for (const char* own : {"calibration", "base", "calibrated_rows"}) // of presets, not of plans
        std::erase_if(
            keys, [own](const std::string& key) { return key == own || key.starts_with(std::string(own) + "."); });
    return keys;
}

std::vector<std::string> unread_constants(const Json& stack)
{
    std::vector<std::string> keys;
    const auto look = [&](const Json& constants, const std::string& at) {
        for (const auto& [key, value] : constants.items()) {
            const bool is_known = key == "source" || key == "date" || key == "notes"
                || std::ranges::find(kConstantTable, key, &ConstantInfo::name) != kConstantTable.end();
            if (!is_known)
                keys.push_back(at + key);
        }
    };
    look(value_at(stack, "constants"), "constants.");
    const auto look_by_gpu = [&](const Json& by_gpu, const std::string& at) {
        for (const auto& [gpu, constants] : by_gpu.items())
            look(constants, at + gpu + ".");
    };
    look_by_gpu(value_at(stack, "gpu_constants"), "gpu_constants.");
    for (const Json& release : value_at(stack, "releases"))
        look_by_gpu(value_at(release, "gpu_constants"), "releases: gpu_constants.");
    return keys;
}

// Of the user, or of a folder that the user named; what ships is held by tests and need not be read once more.
bool is_own_preset(const std::filesystem::path& file)
{
    const char* const named = std::getenv("FOURFOLD_PRESETS");
    const auto is_in
        = [&](const std::filesystem::path& folder) { return file.string().starts_with((folder / "").string()); };
    return is_in(config_folder() / "presets") || (named != nullptr && *named != 0 && is_in(named));
}

// A mistake in writing has no effect: it is told, as in a plan.
void note_unread_keys(const Json& document, const Presets& presets, ResolvedPlan& plan)
{
    const auto look = [&](const char* kind, const Json& id, auto&& unread) {
        const auto file = id.is_string() ? presets.file(kind, written_stack(id.get<std::string>()).id)
                                         : Expected<std::filesystem::path>(Problem());
        if (!file || !is_own_preset(*file))
            return;
        const auto json = read_json_file(*file);
        const std::vector<std::string> keys = json ? unread(*json) : std::vector<std::string>();
        constexpr std::size_t kMostNamed = 5;
        for (std::size_t i = 0; i < std::min(keys.size(), kMostNamed); ++i)
            plan.notes.push_back(file->string() + ": " + printable(keys[i], kUncut) + ": unknown key, ignored");
    };
    const Json& cluster = value_at(document, "cluster");
    look("clusters", cluster, [](const Json& json) { return unread_fields(json, "cluster"); });
    if (cluster.is_string())
        look("gpus", plan.cluster.gpu.id, [](const Json& json) { return unread_fields(json, "cluster.gpu"); });
    look("stacks", value_at(document, "stack"), unread_constants);
}

Expected<void> resolve_layout(const Json& written, ResolvedPlan& plan)
{
    Layout& layout = plan.layout;
    const auto absent = [&](const char* key) { return value_at(written, key).is_null(); };
    layout.order = plan.model.experts ? plan.stack.expert_order.value_or(plan.stack.order) : plan.stack.order;
    read_bound(bound_plan_fields(), "layout.", written, plan);
    const double inner = double(layout.tp) * layout.cp * layout.pp;
    if (absent("dp"))
        layout.dp = std::max(1, static_cast<int>(plan.gpus / inner));
    if (inner * layout.dp > kMaxGpus)
        return Problem{ProblemCode::bad_input, "tp x cp x pp x dp is more than " + std::to_string(kMaxGpus) + " GPUs",
            "", at_field(plan.where, "layout")};
    if (absent("etp"))
        layout.etp = layout.tp;
    const double chunks = double(layout.pp) * layout.virtual_stages;
    if (chunks > kMaxChunks)
        return Problem{ProblemCode::bad_input,
            "pp x virtual_stages is more than " + std::to_string(kMaxChunks) + " model chunks", "",
            at_field(plan.where, "layout.virtual_stages")};
    return {};
}

Expected<void> pad_vocabulary(ResolvedPlan& plan)
{
    if (plan.model.vocab > kMaxVocab)
        return Problem{ProblemCode::bad_input,
            "a vocabulary of " + std::to_string(plan.model.vocab) + " tokens is too large", "",
            at_field(plan.where, "model.vocab_size")};
    plan.padded_vocab = padded_vocabulary(plan);
    if (plan.padded_vocab != plan.model.vocab)
        plan.notes.push_back(
            "vocabulary padded from " + std::to_string(plan.model.vocab) + " to " + std::to_string(plan.padded_vocab));
    return {};
}
} // namespace

Expected<ResolvedPlan> resolve_with(const Plan& plan, const Presets& presets, IdPolicy policy)
{
    const Json& document = plan.document;
    FOURFOLD_CHECK(check_ranges(document, "", plan.where, ""));
    ResolvedPlan out;
    out.where = plan.where;
    FOURFOLD_TRY(out.model, resolve_model(value_at(document, "model"), plan.where, presets, policy, out.notes));
    FOURFOLD_TRY(out.cluster, resolve_cluster(value_at(document, "cluster"), plan.where, presets, policy));
    note_bits_for_bytes(out);
    FOURFOLD_CHECK(resolve_stack(value_at(document, "stack"), presets, policy, out));
    note_unread_keys(document, presets, out);
    if (out.stack.base && out.stack.base->changed)
        out.notes.push_back("stack " + out.stack.id + " was calibrated on an older version of " + out.stack.base->id
            + ": run `fourfold calibrate` again to take over what changed");
    out.gpus = value_at(document, "gpus").get<int>();
    const Json& name = value_at(document, "name");
    out.name
        = printable(name.is_null() ? out.model.name + " on " + std::to_string(out.gpus) + " x " + out.cluster.gpu.name
                                   : name.get<std::string>(),
            kUncut);
    const Json& layout = value_at(document, "layout");
    FOURFOLD_CHECK(resolve_layout(layout, out));
    FOURFOLD_CHECK(resolve_training(value_at(document, "training"), out));
    apply_calibration(out);
    if (value_at(layout, "stage_layers").is_null())
        out.layout.stage_layers = default_stage_layers(
            out.model, out.stack, out.layout.pp, out.layout.virtual_stages, out.training.schedule);
    if (value_at(layout, "dp_shard").is_null())
        out.layout.dp_shard = default_dp_shard(out);
    FOURFOLD_CHECK(resolve_run(value_at(document, "run"), out));
    FOURFOLD_CHECK(pad_vocabulary(out));
    return out;
}

Expected<ResolvedPlan> resolve(const Plan& plan, const Presets& presets)
{
    return resolve_with(plan, presets, IdPolicy::compare_with_presets);
}

} // namespace fourfold
