// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/row_plan.h"
#include "core/base/text.h"

#include <algorithm>
#include <sstream>

namespace fourfold {

namespace {

std::string as_id(std::string name)
{
    name = lower_case(name);
    std::replace(name.begin(), name.end(), ' ', '-');
    return name;
}

struct Shape {
    std::optional<int64_t> layers, hidden, heads, kv_heads, ffn, vocab, seq_len;
    std::optional<bool> gated, tied;
    std::optional<int64_t> head_dim, experts, experts_per_token;
};

// A preset of the same name stands for the model where the printed shape does not contradict it.
bool agrees(const ModelShape& model, const Shape& shape)
{
    const auto same = [](const std::optional<int64_t>& printed, int64_t own) { return !printed || *printed == own; };
    return same(shape.layers, model.layers) && same(shape.hidden, model.hidden) && same(shape.heads, model.heads)
        && same(shape.kv_heads, model.kv_heads) && same(shape.ffn, model.experts ? model.experts->ffn : model.ffn)
        && same(shape.experts, model.experts ? model.experts->count : 0) && same(shape.vocab, model.vocab)
        && (!shape.gated || *shape.gated == model.gated()) && (!shape.tied || *shape.tied == model.tied_embeddings);
}

Json model_json(RowCells& cells, const TableSource* source, const Presets& presets)
{
    Shape shape{cells.whole("layers"), cells.whole("hidden"), cells.whole("heads"), cells.whole("kv_heads"),
        cells.whole("ffn"), cells.whole("vocab"), cells.whole("seq_len"), cells.flag("gated_mlp"),
        cells.flag("tied_embeddings"), cells.whole("head_dim"), cells.whole("experts"),
        cells.whole("experts_per_token")};
    std::string id = as_id(cells.text("model"));
    if (source != nullptr && source->models.contains(cells.text("model")))
        id = source->models.at(cells.text("model"));
    const auto known = presets.ids("models");
    const bool is_preset = std::find(known.begin(), known.end(), id) != known.end();
    if (is_preset) {
        auto preset = presets.model(id);
        if (preset && agrees(*preset, shape) && !cells.has("modules_ahead"))
            return id;
        if (preset && agrees(*preset, shape)) {
            preset->predicted_ahead = int(cells.whole("modules_ahead").value_or(0));
            return config_from_model(*preset);
        }
    }
    for (const char* column : {"layers", "hidden", "heads", "vocab"}) {
        if (!cells.has(column))
            cells.missing(column,
                "a whole number"
                    + std::string(is_preset ? " (the other columns of the shape contradict the preset " + id + ")"
                                            : " (" + in_quotes(cells.text("model")) + " is no model preset)"));
    }
    if (!cells.problems().empty())
        return {};
    const int64_t hidden = *shape.hidden, heads = *shape.heads;
    const bool gated = shape.gated.value_or(false);
    // Experts of one kind in every layer; what has dense first layers or latent attention needs a preset.
    const std::string family = cells.has("model_type") ? cells.text("model_type")
        : shape.experts                                ? "mixtral"
        : gated                                        ? "llama"
                                                       : "gpt2";
    Json model{{"model_type", family}, {"name", cells.text("model")}};
    if (family == "gpt2") {
        model["n_embd"] = hidden;
        model["n_layer"] = *shape.layers;
        model["n_head"] = heads;
        model["n_inner"] = shape.ffn.value_or(4 * hidden);
        model["n_positions"] = shape.seq_len.value_or(1024);
    } else {
        model["hidden_size"] = hidden;
        model["num_hidden_layers"] = *shape.layers;
        model["num_attention_heads"] = heads;
        model["num_key_value_heads"] = shape.kv_heads.value_or(heads);
        if (shape.ffn)
            model["intermediate_size"] = *shape.ffn;
        model["max_position_embeddings"] = shape.seq_len.value_or(4096);
        if (shape.head_dim)
            model["head_dim"] = *shape.head_dim;
        if (const auto modules = cells.whole("modules_ahead"))
            model["num_nextn_predict_layers"] = *modules;
        if (shape.experts) {
            model["num_local_experts"] = *shape.experts;
            model["num_experts_per_tok"] = shape.experts_per_token.value_or(1);
        }
    }
    if (shape.tied)
        model["tie_word_embeddings"] = *shape.tied;
    model["vocab_size"] = *shape.vocab;
    return model;
}

Json cluster_json(RowCells& cells, const TableSource* source)
{
    if (cells.has("cluster"))
        return cells.text("cluster");
    if (source == nullptr) {
        cells.problem("source",
            "found " + in_quotes(cells.text("source")) + ", which no published/sources.json describes",
            "add it there, or columns cluster and stack with ids of presets");
        return {};
    }
    const auto of_table = source->table_clusters.find(cells.text("table"));
    if (of_table != source->table_clusters.end())
        return of_table->second;
    const auto found = source->clusters.find(cells.text("gpu"));
    if (found != source->clusters.end())
        return found->second;
    std::vector<std::string> known;
    for (const auto& [gpu, cluster] : source->clusters)
        known.push_back(gpu);
    cells.problem("gpu",
        "found " + in_quotes(cells.text("gpu")) + ", expected " + joined(known, " or ") + " for source " + source->id,
        "or add a column cluster with the id of a preset");
    return {};
}

// dp follows from the GPUs. A printed dp that does not multiply is an impossible layout, unless the table itself marks
// the row: then the GPUs decide.
Json layout_json(RowCells& cells, int64_t gpus)
{
    const std::size_t before = cells.problems().size();
    const int64_t tp = cells.whole("tp").value_or(1), cp = cells.whole("cp").value_or(1);
    const int64_t pp = cells.whole("pp").value_or(1);
    if (cells.problems().size() > before)
        return {};
    const double replica = double(tp) * double(cp) * double(pp);
    const std::string product
        = "tp x cp x pp = " + std::to_string(tp) + " x " + std::to_string(cp) + " x " + std::to_string(pp);
    if (replica > double(gpus) || gpus % (tp * cp * pp) != 0) {
        cells.problem(
            "gpus", product + " does not divide " + std::to_string(gpus) + " GPUs, expected a multiple of it");
        return {};
    }
    const int64_t dp = gpus / (tp * cp * pp);
    if (const auto printed = cells.whole("dp"); printed && *printed != dp) {
        if (!cells.has("anomaly")) {
            cells.problem("dp",
                "found " + std::to_string(*printed) + ", expected " + std::to_string(dp) + ": " + product + " on "
                    + std::to_string(gpus) + " GPUs");
            return {};
        }
        cells.assume("dp=" + std::to_string(dp));
    }
    Json layout{{"tp", tp}, {"cp", cp}, {"pp", pp}, {"dp", dp}};
    for (const char* column : {"ep", "etp", "virtual_stages"}) {
        if (const auto value = cells.whole(column))
            layout[column] = *value;
    }
    return layout;
}

} // namespace

std::string release_of_row(const RowCells& cells, const TableSource* source)
{
    if (cells.has("release"))
        return release_name(cells.text("release"));
    return source != nullptr && source->tables_are_releases ? release_name(cells.text("table")) : std::string();
}

Json training_of_row(RowCells& cells)
{
    Json training = Json::object();
    for (const char* key : {"seq_len", "micro_batch", "global_batch", "recompute_layers", "offload_layers"}) {
        if (const auto value = cells.whole(key))
            training[key] = *value;
    }
    for (const char* key : {"schedule", "sharding", "recompute", "precision", "flop_convention", "attention",
             "cp_method", "grad_dtype", "optimizer", "optimizer_state_dtype", "offload", "fp8_recipe"}) {
        if (cells.has(key))
            training[key] = cells.text(key);
    }
    std::istringstream parts(cells.text("recompute_parts"));
    for (std::string part; std::getline(parts, part, '+');) // "mla-up-proj+mlp"
        training["recompute_parts"].push_back(part);
    if (const auto capacity = cells.positive("expert_capacity"))
        training["experts"]["capacity"] = *capacity;
    for (const char* key : {"compile", "async_tp", "sequence_parallel", "optimizer_in_backward"}) {
        if (const auto value = cells.flag(key))
            training[key] = *value;
    }
    for (const char* key : {"seq_len", "micro_batch", "global_batch"}) {
        if (!cells.has(key))
            cells.missing(key, "a whole number of at least 1, or a stand-in in assumed");
    }
    return training;
}

namespace {

// Null where neither the row nor its source says.
Json stack_json(RowCells& cells, const TableSource* source)
{
    const std::string stack = cells.has("stack") ? cells.text("stack") : source != nullptr ? source->stack : "";
    const std::string release = release_of_row(cells, source);
    if (cells.has("release") && !is_release_name(release))
        cells.problem("release", "found " + in_quotes(cells.text("release")) + ", expected a release's number",
            "as 25.09 or v0.9.1");
    if (stack.empty() || release.empty() || stack.find('@') != std::string::npos)
        return stack.empty() ? Json() : Json(stack);
    return stack + "@" + release;
}

Json run_of_row(RowCells& cells)
{
    Json run = Json::object();
    if (cells.flag("cuda_graphs").value_or(false))
        run["environment"] = {{"FOURFOLD_CUDA_GRAPHS", "1"}};
    if (cells.flag("optimizer_in_backward").value_or(false)) // which knows neither norm nor loss when it updates
        run.update({{"clip_norm", 0}, {"watch", {{"not_finite", "stop"}}}});
    return run;
}

} // namespace

std::optional<ResolvedPlan> plan_of_row(RowCells& cells, const TableSource* source, const Presets& presets)
{
    Json plan{{"fourfold_plan", 1}, {"name", cells.text("source") + " " + cells.text("row")}};
    plan["model"] = model_json(cells, source, presets);
    plan["cluster"] = cluster_json(cells, source);
    const auto gpus = cells.whole("gpus");
    if (!gpus && !cells.has("gpus"))
        cells.missing("gpus", "a whole number of at least 1");
    plan["gpus"] = gpus.value_or(1);
    if (Json stack = stack_json(cells, source); !stack.is_null())
        plan["stack"] = std::move(stack);
    if (gpus)
        plan["layout"] = layout_json(cells, *gpus);
    plan["training"] = training_of_row(cells);
    plan["run"] = run_of_row(cells);
    if (!cells.problems().empty())
        return std::nullopt;
    auto document = plan_from_json(plan, cells.where());
    auto resolved = document ? resolve(*document, presets) : Expected<ResolvedPlan>(std::move(document).error());
    if (!resolved) {
        cells.problem(std::move(resolved).error());
        return std::nullopt;
    }
    const int per_node = resolved->cluster.gpus_per_node;
    if (const auto printed = cells.whole("gpus_per_node"); printed && *printed != per_node)
        cells.problem("gpus_per_node",
            "found " + std::to_string(*printed) + ", expected " + std::to_string(per_node) + " as cluster "
                + resolved->cluster.id + " has",
            "a column cluster may name another preset");
    return *std::move(resolved);
}

} // namespace fourfold
