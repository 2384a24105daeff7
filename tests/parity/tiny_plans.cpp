// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/tiny_plans.h"

#include "core/plan/presets.h"

#include <fstream>
#include <stdexcept>

namespace fourfold::testing {

namespace {
constexpr char kTinyPlan[] = R"({
      "fourfold_plan": 1, "name": "tiny",
      "model": { "model_type": "llama", "vocab_size": 61, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48, "max_position_embeddings": 64,
        "rms_norm_eps": 1e-5, "rope_theta": 100.0, "tie_word_embeddings": false,
        "rope_scaling": { "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32 } },
      "cluster": "this-computer", "gpus": 1, "stack": "fourfold",
      "layout": { "tp": 1, "cp": 1, "pp": 1, "dp": 1 },
      "training": { "seq_len": 16, "micro_batch": 2, "global_batch": 8, "precision": "fp32" },
      "run": { "steps": 10, "lr": 0.01, "min_lr": 0.001, "warmup_steps": 2, "weight_decay": 0.1, "clip_norm": 1.0, "seed": 7 }
    })";

template <typename T>
T value(Expected<T> expected)
{
    if (!expected)
        throw std::runtime_error(expected.error().line());
    return *std::move(expected);
}

ResolvedPlan resolved(Plan plan, const std::vector<std::string>& assignments)
{
    for (const auto& assignment : assignments)
        plan = value(with_assignment(plan, assignment));
    return value(resolve(plan, Presets()));
}
} // namespace

ResolvedPlan tiny_plan(const std::filesystem::path& tokens, const std::vector<std::string>& assignments)
{
    ResolvedPlan plan = resolved(value(parse_plan(kTinyPlan, "tiny.plan.json")), assignments);
    DataSource source;
    source.path = tokens.string();
    source.dtype = "uint16";
    source.end = 0.9;
    plan.run.data = {source};
    source.begin = 0.9;
    source.end = 1;
    plan.run.eval.data = {source};
    plan.run.eval.batches = 2;
    return plan;
}

std::vector<std::string> fp8_model(const std::string& recipe, int side)
{
    const std::string two = std::to_string(2 * side), four = std::to_string(4 * side);
    const std::string tokens = side < 128 ? four : two; // the held-out data are short
    return {kEveryPrecision, "training.precision=\"fp8\"", "training.fp8_recipe=\"" + recipe + '"',
        "model.hidden_size=" + two, "model.intermediate_size=" + four, "model.head_dim=" + std::to_string(side),
        "model.num_attention_heads=2", "model.num_key_value_heads=2", "training.seq_len=" + tokens,
        "model.max_position_embeddings=" + tokens, "training.micro_batch=1", "training.global_batch=4", "run.steps=4"};
}

std::filesystem::path write_tokens(const std::filesystem::path& folder)
{
    const auto path = folder / "tokens.bin";
    std::ofstream file(path, std::ios::binary);
    unsigned state = 1, token = 0;
    for (int i = 0; i < 4000; ++i) {
        state = state * 1664525u + 1013904223u;
        token = (token * 5 + (state >> 28)) % 61; // a noisy walk: the next token depends on the last
        file.put(static_cast<char>(token & 0xff)).put(static_cast<char>(token >> 8));
    }
    if (!file.flush())
        throw std::runtime_error("cannot write " + path.string());
    return path;
}

std::filesystem::path write_plan(const ResolvedPlan& plan, const std::filesystem::path& folder)
{
    const auto path = folder / "plan.json";
    const auto written = write_file_atomically(path, to_json(plan, PresetStyle::inlined).dump(1));
    if (!written)
        throw std::runtime_error(written.error().line());
    return path;
}

ResolvedPlan example_plan(const std::vector<std::string>& assignments)
{
    const std::filesystem::path source = FOURFOLD_SOURCE_DIR;
    ResolvedPlan plan = resolved(value(read_plan(source / "presets/plans/this-computer.plan.json")), assignments);
    for (auto* list : {&plan.run.data, &plan.run.eval.data})
        for (DataSource& data : *list)
            data.path = (source / "resources" / data.path).string();
    return plan;
}

} // namespace fourfold::testing
