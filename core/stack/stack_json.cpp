// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json_fields.h"
#include "core/stack/stack.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

namespace {
constexpr double kMostConstant = 1e6;
constexpr int kMostVocabMultiple = 1 << 20, kMostStages = 4096;

constexpr std::pair<const char*, bool PipelineRules::*> kPipelineRules[]{{"fill_warm_up", &PipelineRules::fill_warm_up},
    {"fill_1f1b", &PipelineRules::fill_1f1b}, {"shard_only_optimizer", &PipelineRules::shard_only_optimizer}};

Expected<PipelineRules> read_pipeline_rules(const Fields& fields)
{
    PipelineRules rules;
    if (!fields.has("pipeline_rules"))
        return rules;
    FOURFOLD_TRY(const Fields json, fields.object("pipeline_rules"));
    for (const auto& [key, member] : kPipelineRules) {
        FOURFOLD_TRY(rules.*member, json.boolean_or(key, false));
    }
    return rules;
}

Json to_json(const PipelineRules& rules)
{
    Json json = Json::object();
    for (const auto& [key, member] : kPipelineRules) {
        if (rules.*member)
            json[key] = true;
    }
    return json;
}

Expected<std::array<Dimension, 4>> read_order(const Fields& fields, const char* key)
{
    const std::string expected = "a list of \"tp\", \"cp\", \"pp\" and \"dp\", each once, innermost first";
    std::array<Dimension, 4> order{};
    const Json& list = fields.json()[key];
    if (!list.is_array() || list.size() != order.size())
        return fields.wrong(key, expected);
    for (const Dimension dimension : kDimensions) {
        const auto at = std::find(list.begin(), list.end(), Json(std::string(name(dimension))));
        if (at == list.end())
            return fields.wrong(key, expected);
        order[static_cast<std::size_t>(at - list.begin())] = dimension;
    }
    return order;
}

Json order_json(const std::array<Dimension, 4>& order)
{
    Json list = Json::array();
    for (const Dimension dimension : order)
        list.push_back(std::string(name(dimension)));
    return list;
}

// Free text beside the figures: where they come from.
bool is_remark(const std::string& key)
{
    return key == "source" || key == "date" || key == "notes";
}

// A share or a multiple of what the hardware can do, which something is divided by.
bool is_divisor(const std::string& key)
{
    return key.find("efficiency") != std::string::npos || key.ends_with("_gain") || key.ends_with("_clock");
}

// A constant is a number, or {"value": number} with remarks of its own. None is negative, and those that are fitted to
// measurements lie far below the limit: beyond it a figure would be no number.
Expected<std::map<std::string, double>> read_constants(const Fields& fields)
{
    std::map<std::string, double> constants;
    for (const auto& [key, value] : fields.json().items()) {
        if (is_remark(key))
            continue;
        const bool has_remarks = value.is_object() && value.contains("value");
        const Json& number = has_remarks ? value["value"] : value;
        if (!number.is_number() || !std::isfinite(number.get<double>()))
            return fields.wrong(key, "a number, or an object with \"value\" and its \"source\"");
        const double read = number.get<double>();
        if (read < 0 || read > kMostConstant || (read == 0 && is_divisor(key)))
            return fields.wrong(
                key, std::string(is_divisor(key) ? "a number above 0" : "a number from 0") + " to 1000000");
        constants[key] = read;
    }
    return constants;
}

// `gpu_constants` of a stack, or of one of its releases.
Expected<std::map<std::string, std::map<std::string, double>>> read_gpu_constants(const Fields& fields)
{
    std::map<std::string, std::map<std::string, double>> read;
    FOURFOLD_TRY(const Fields by_gpu, fields.object("gpu_constants"));
    for (const auto& [gpu_id, value] : by_gpu.json().items()) {
        if (is_remark(gpu_id))
            continue;
        FOURFOLD_TRY(const Fields constants, by_gpu.object(gpu_id));
        FOURFOLD_TRY(read[gpu_id], read_constants(constants));
    }
    return read;
}

Expected<Release> read_release(const Fields& fields)
{
    Release release;
    FOURFOLD_TRY(release.name, fields.text("name"));
    if (!is_release_name(release.name))
        return fields.wrong("name", "a release's number, as \"25.11\"");
    FOURFOLD_TRY(release.date, fields.text_or("date", ""));
    if (fields.has("gpus")) {
        const Json& list = fields.json()["gpus"];
        if (!list.is_array() || !std::ranges::all_of(list, [](const Json& id) { return id.is_string(); }))
            return fields.wrong("gpus", "a list of GPU ids");
        release.gpus = list.get<std::set<std::string>>();
    }
    if (fields.has("gpu_constants")) {
        FOURFOLD_TRY(release.gpu_constants, read_gpu_constants(fields));
    }
    if (fields.has("measured")) {
        FOURFOLD_TRY(release.measured, domains_from_json(fields.json()["measured"], fields.where("measured")));
    }
    return release;
}

Expected<std::vector<Release>> read_releases(const Fields& fields)
{
    std::vector<Release> releases;
    const Json& list = fields.json()["releases"];
    if (!list.is_array())
        return fields.wrong("releases", "a list of releases");
    for (std::size_t i = 0; i < list.size(); ++i) {
        FOURFOLD_TRY(const Fields one, Fields::of(list[i], fields.where("releases[" + std::to_string(i) + "]")));
        FOURFOLD_TRY(Release release, read_release(one));
        if (std::ranges::find(releases, release.name, &Release::name) != releases.end())
            return one.problem("name", "release " + release.name + " is listed twice, expected once");
        releases.push_back(std::move(release));
    }
    std::ranges::stable_sort(releases, is_earlier_release, &Release::name);
    return releases;
}

Json gpu_constants_json(const std::map<std::string, std::map<std::string, double>>& gpu_constants)
{
    Json json = Json::object();
    for (const auto& [gpu_id, constants] : gpu_constants) {
        json[gpu_id] = Json::object();
        for (const auto& [key, value] : constants)
            json[gpu_id][key] = value;
    }
    return json;
}

Json to_json(const std::vector<Release>& releases)
{
    Json list = Json::array();
    for (const Release& release : releases) {
        Json one = {{"name", release.name}};
        if (!release.date.empty())
            one["date"] = release.date;
        if (!release.gpus.empty())
            one["gpus"] = release.gpus;
        if (!release.gpu_constants.empty())
            one["gpu_constants"] = gpu_constants_json(release.gpu_constants);
        if (!release.measured.empty())
            one["measured"] = to_json(release.measured);
        list.push_back(std::move(one));
    }
    return list;
}
} // namespace

double Stack::constant(const std::string& name, const std::string& gpu_id, double fallback) const
{
    return said_constant(name, gpu_id).value_or(fallback);
}

std::optional<double> Stack::said_constant(const std::string& name, const std::string& gpu_id) const
{
    if (const auto own = gpu_constants.find(gpu_id); own != gpu_constants.end()) {
        if (const auto at = own->second.find(name); at != own->second.end())
            return at->second;
    }
    const auto at = constants.find(name);
    return at == constants.end() ? std::nullopt : std::optional(at->second);
}

bool Stack::measured_with(const std::string& gpu_id, AttentionKernel kernel) const
{
    const auto domain = measured.find(gpu_id);
    return domain == measured.end() || domain->second.kernels.empty() || domain->second.kernels.contains(kernel);
}

std::string Stack::relative_of(const std::string& generation, AttentionKernel kernel) const
{
    std::string found;
    int most = 0;
    for (const auto& [gpu_id, domain] : measured) {
        if (!generation.empty() && domain.generation == generation && domain.kernels.contains(kernel)
            && domain.runs > most) {
            found = gpu_id;
            most = domain.runs;
        }
    }
    return found;
}

Expected<Stack> stack_from_json(const Json& json, const std::string& where)
{
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    Stack stack;
    stack.training_defaults = Json::object();
    FOURFOLD_TRY(stack.id, fields.text("id"));
    FOURFOLD_TRY(stack.name, fields.name_or("name", stack.id));
    FOURFOLD_TRY(stack.memory_convention, fields.word_or("memory_convention", stack.memory_convention));
    FOURFOLD_TRY(stack.memory_stage, fields.small_integer_or("memory_stage", stack.memory_stage, -1, kMostStages));
    FOURFOLD_TRY(stack.stage_split, fields.word_or("stage_split", stack.stage_split));
    FOURFOLD_TRY(stack.pipeline_rules, read_pipeline_rules(fields));
    FOURFOLD_TRY(
        stack.vocab_multiple, fields.small_integer_or("vocab_multiple", stack.vocab_multiple, 1, kMostVocabMultiple));
    if (fields.has("order")) {
        FOURFOLD_TRY(stack.order, read_order(fields, "order"));
    }
    if (fields.has("expert_order")) {
        FOURFOLD_TRY(stack.expert_order, read_order(fields, "expert_order"));
    }
    if (fields.has("training_defaults")) {
        FOURFOLD_TRY(const Fields defaults, fields.object("training_defaults"));
        stack.training_defaults = defaults.json();
    }
    if (fields.has("attention_by_generation")) {
        FOURFOLD_TRY(const Fields kernels, fields.object("attention_by_generation"));
        for (const auto& [generation, kernel] : kernels.json().items()) {
            FOURFOLD_TRY(const std::string text, kernels.text(generation));
            FOURFOLD_TRY(
                stack.attention_by_generation[generation], from_text<AttentionKernel>(text, kernels.where(generation)));
        }
    }
    if (fields.has("constants")) {
        FOURFOLD_TRY(const Fields constants, fields.object("constants"));
        FOURFOLD_TRY(stack.constants, read_constants(constants));
    }
    if (fields.has("gpu_constants")) {
        FOURFOLD_TRY(stack.gpu_constants, read_gpu_constants(fields));
    }
    if (fields.has("measured")) {
        FOURFOLD_TRY(stack.measured, domains_from_json(json["measured"], fields.where("measured")));
    }
    if (fields.has("base")) {
        FOURFOLD_TRY(const Fields base, fields.object("base"));
        PresetBase read;
        FOURFOLD_TRY(read.id, base.text("id"));
        FOURFOLD_TRY(read.sha256, base.text_or("sha256", ""));
        stack.base = std::move(read);
    }
    if (fields.has("fit")) {
        FOURFOLD_TRY(stack.fit, fit_sets_from_json(json["fit"], fields.where("fit")));
    }
    if (fields.has("releases")) {
        FOURFOLD_TRY(stack.releases, read_releases(fields));
    }
    FOURFOLD_TRY(const std::string release, fields.text_or("release", ""));
    if (!release.empty()) {
        if (!is_release_name(release_name(release)))
            return fields.wrong("release", "a release's number, as \"25.11\"");
        stack.use_release(release_name(release));
    }
    return stack;
}

Json to_json(const Stack& stack)
{
    Json json = {{"id", stack.id}, {"name", stack.name}, {"memory_convention", to_text(stack.memory_convention)},
        {"memory_stage", stack.memory_stage}, {"stage_split", to_text(stack.stage_split)},
        {"vocab_multiple", stack.vocab_multiple}};
    if (stack.pipeline_rules != PipelineRules{})
        json["pipeline_rules"] = to_json(stack.pipeline_rules);
    json["order"] = order_json(stack.order);
    if (stack.expert_order)
        json["expert_order"] = order_json(*stack.expert_order);
    json["training_defaults"] = stack.training_defaults;
    for (const auto& [generation, kernel] : stack.attention_by_generation)
        json["attention_by_generation"][generation] = to_text(kernel);
    json["constants"] = Json::object();
    for (const auto& [key, value] : stack.constants)
        json["constants"][key] = value;
    json["gpu_constants"] = gpu_constants_json(stack.gpu_constants);
    if (!stack.measured.empty())
        json["measured"] = to_json(stack.measured);
    if (!stack.fit.empty())
        json["fit"] = to_json(stack.fit);
    if (!stack.releases.empty())
        json["releases"] = to_json(stack.releases);
    if (!stack.release.empty())
        json["release"] = stack.release;
    return json;
}

} // namespace fourfold
