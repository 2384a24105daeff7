// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/twins.h"

#include "core/calibration/measured_table.h"
#include "core/model/model_shape.h"
#include "core/plan/presets.h"
#include "core/plan/trainable.h"
#include "tests/parity/tiny_plans.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>

namespace fourfold::testing {

namespace {
constexpr int kTokens = 64, kHidden = 64, kHeads = 4;

void must(const Expected<void>& expected)
{
    if (!expected)
        throw std::runtime_error(expected.error().line());
}
template <typename T>
T must(Expected<T> expected)
{
    if (!expected)
        throw std::runtime_error(expected.error().line());
    return *std::move(expected);
}

int two(int degree)
{
    return std::min(degree, 2);
}

std::string identifier(std::string text)
{
    std::ranges::replace_if(
        text, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return text;
}

// The same model with small numbers.
Json tiny_model(const ModelShape& model, int layers)
{
    const int key_heads = model.kv_heads < model.heads ? kHeads / 2 : kHeads;
    const std::map<std::string, Json> small{{"hidden_size", kHidden}, {"n_embd", kHidden}, {"n_layer", layers},
        {"num_hidden_layers", layers}, {"num_attention_heads", kHeads}, {"n_head", kHeads},
        {"num_key_value_heads", key_heads}, {"head_dim", kHidden / kHeads}, {"intermediate_size", 2 * kHidden},
        {"n_inner", 4 * kHidden}, {"vocab_size", 61}, {"max_position_embeddings", kTokens}, {"n_positions", kTokens},
        {"seq_length", kTokens}, {"num_local_experts", 4}};
    Json config = config_from_model(model);
    for (auto& [key, number] : config.items())
        if (const auto found = small.find(key); found != small.end())
            number = found->second;
    if (config.contains("rope_scaling") && config["rope_scaling"].contains("original_max_position_embeddings"))
        config["rope_scaling"]["original_max_position_embeddings"] = kTokens / 2;
    for (const char* label : {"id", "name", "source"})
        config.erase(label);
    return config;
}

// Keys of `training` that change what is computed, on one rank too.
const std::set<std::string> kOfTheModel{"precision", "fp8_recipe", "fp8_scale_group", "mx_rounding", "grad_dtype",
    "optimizer", "optimizer_state_dtype", "attention", "experts"};
// Keys that the twin has a value of its own for.
const std::set<std::string> kOwn{"seq_len", "micro_batch", "global_batch", "micro_batches", "ramp_up",
    "recompute_layers", "recompute_every", "flop_convention"};
} // namespace

Case twin_of(const ResolvedPlan& plan, const std::string& name)
{
    const Layout& layout = plan.layout;
    const Training& training = plan.training;
    const int tp = two(layout.tp), cp = two(layout.cp), pp = two(layout.pp), dp = two(layout.dp);
    const int chunks = pp * two(layout.virtual_stages), layers = std::max(2, chunks);
    const int micro_batch = two(training.micro_batch);
    const int micro_batches = pp > 1 ? 4 : two(training.micro_batches);
    const auto set = [](std::vector<std::string>& list, const std::string& path, const Json& json) {
        list.push_back(path + "=" + json.dump());
    };
    Case twin{name, {}, {kEveryPrecision, "run.steps=3"}};
    set(twin.model, "model", tiny_model(plan.model, layers));
    set(twin.model, "training.seq_len", kTokens);
    set(twin.model, "training.micro_batch", micro_batch);
    set(twin.model, "training.global_batch", micro_batch * dp * micro_batches);
    if (training.ramp_up) {
        const int half = micro_batch * dp * micro_batches / 2;
        set(twin.model, "training.ramp_up", {{"start", half}, {"increment", half}, {"samples", half}});
    }
    set(twin.mesh, "gpus", tp * cp * pp * dp);
    for (const auto& [key, degree] : std::map<std::string, int>{{"tp", tp}, {"cp", cp}, {"pp", pp}, {"dp", dp},
             {"ep", two(layout.ep)}, {"etp", two(layout.etp)}, {"virtual_stages", two(layout.virtual_stages)}})
        set(twin.mesh, "layout." + key, degree);
    Json order = Json::array();
    for (const Dimension dimension : layout.order)
        order.push_back(to_text(dimension));
    set(twin.mesh, "layout.order", order);
    ResolvedPlan ours = plan; // what the trainer makes of it
    must(hand_to_trainer(ours, Presets()));
    const Json written = training_json(ours);
    for (const auto& [key, setting] : written.items())
        if (!kOwn.contains(key))
            set(kOfTheModel.contains(key) ? twin.model : twin.mesh, "training." + key, setting);
    if (training.recompute_layers)
        set(twin.mesh, "training.recompute_layers", 1);
    if (training.recompute_every > 1)
        set(twin.mesh, "training.recompute_every", 2);
    return twin;
}

std::vector<std::pair<std::string, ResolvedPlan>> shipped_plans()
{
    const Presets presets;
    std::vector<std::pair<std::string, ResolvedPlan>> plans;
    for (const std::string& id : presets.ids("plans")) {
        const std::string name = id.substr(0, id.find(".plan"));
        plans.emplace_back(identifier(name), must(resolve(must(read_plan(must(presets.file("plans", id)))), presets)));
    }
    return plans;
}

std::vector<std::pair<std::string, ResolvedPlan>> torchtitan_rows()
{
    const MeasuredTable table = must(read_measured_table(
        FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv", must(TableSources::find()), Presets()));
    std::vector<std::pair<std::string, ResolvedPlan>> plans;
    for (const MeasuredRow& row : table.rows)
        plans.emplace_back("torchtitan_" + identifier(row.row), row.plan);
    return plans;
}

std::vector<Case> all_twins()
{
    auto plans = shipped_plans();
    const auto rows = torchtitan_rows();
    plans.insert(plans.end(), rows.begin(), rows.end());
    std::vector<Case> twins;
    for (const auto& [name, plan] : plans) {
        Case twin = twin_of(plan, name);
        const bool known = std::ranges::any_of(
            twins, [&](const Case& other) { return other.mesh == twin.mesh && other.model == twin.model; });
        if (!known)
            twins.push_back(std::move(twin));
    }
    return twins;
}

} // namespace fourfold::testing
