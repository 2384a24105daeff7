// SPDX-License-Identifier: GPL-3.0-or-later
// resources/reports/techniques.md: each technique is predicted, searched, run and shown, or the table says that it is
// not. FOURFOLD_UPDATE_TECHNIQUES=1 writes it anew.
#include "core/plan/fields.h"
#include "core/plan/trainable.h"
#include "core/predict/prediction.h"
#include "core/search/edits.h"
#include "core/search/search.h"
#include "tests/parity/compare.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace fourfold::testing {
namespace {

struct Technique {
    const char* name;
    std::vector<std::string> with; // the first one is the technique; the others are what it needs
};
struct Chapter {
    const char* title;
    std::vector<Technique> techniques;
};

// The shipped configuration, as its users write it into a plan, with a prediction module.
std::string deepseek_ahead()
{
    auto config = read_json_file(FOURFOLD_SOURCE_DIR "/presets/models/deepseek-v3.json");
    if (!config)
        return config.error().line();
    for (const char* const key : {"id", "name", "source"})
        config->erase(key);
    (*config)["num_nextn_predict_layers"] = 1;
    return "model=" + config->dump();
}

// Of a job of two nodes, so that each kind of parallelism has somewhere to be.
std::vector<Chapter> chapters()
{
    const std::string mixtral = "model=\"mixtral-8x7b\"", deepseek = "model=\"deepseek-v3\"",
                      b200 = "cluster=\"dgx-b200\"", fp8 = "training.precision=\"fp8\"",
                      selective = "training.recompute=\"selective\"", tp = "layout.tp=2", pp = "layout.pp=2",
                      cp = "layout.cp=2", two = "layout.virtual_stages=2";
    const std::vector<std::string> unclipped{"run.clip_norm=0", "run.watch.not_finite=\"stop\""};
    return {
        {"Parallelism",
            {{"tensor", {tp}}, {"sequence", {"training.sequence_parallel=true", tp}},
                {"asynchronous tensor", {"training.async_tp=true", tp}},
                {"asynchronous tensor behind another micro-batch",
                    {"training.overlap.tensor_parallel=true", tp, "training.async_tp=true"}},
                {"context", {cp}}, {"pipeline", {pp}}, {"expert", {"layout.ep=8", mixtral}},
                {"expert tensor", {"layout.etp=2", mixtral, "layout.ep=4", tp}},
                {"ZeRO-1", {"training.sharding=\"optimizer\""}}, {"ZeRO-2", {"training.sharding=\"gradients\""}},
                {"FSDP, ZeRO-3", {"training.sharding=\"parameters\""}},
                {"FSDP for each micro-batch of a pipeline",
                    {"training.fsdp.each_micro_batch=true", "training.sharding=\"parameters\"", pp}},
                {"HSDP", {"training.sharding=\"hybrid\""}}}},
        {"Schedules",
            {{"GPipe", {"training.schedule=\"gpipe\"", pp}}, {"1F1B", {"training.schedule=\"1f1b\"", pp}},
                {"interleaved", {"training.schedule=\"interleaved\"", pp, two}},
                {"ZB-H1", {"training.schedule=\"zb-h1\"", pp}}, {"ZB-V", {"training.schedule=\"zb-v\"", pp, two}},
                {"DualPipe-V", {"training.schedule=\"dualpipe-v\"", pp, two}}}},
        {"Experts",
            {{"Mixtral", {mixtral, "layout.ep=8"}}, {"Qwen3", {"model=\"qwen3-30b-a3b\"", "layout.ep=8"}},
                {"GPT-OSS", {"model=\"gpt-oss-20b\"", "layout.ep=8"}}, {"DeepSeek-V3", {deepseek, "layout.ep=8"}},
                {"capacity", {"training.experts.capacity=1.25", mixtral}},
                {"capacity by rank",
                    {"training.experts.capacity_of=\"rank\"", mixtral, "training.experts.capacity=1.25"}},
                {"balance by micro-batch", {"training.experts.balance=\"micro-batch\"", mixtral}},
                {"multi-token prediction", {"run.ahead_loss_weight=0.5", deepseek_ahead(), "layout.ep=8"}},
                {"exchange behind another micro-batch",
                    {"training.overlap.expert_exchange=true", mixtral, "layout.ep=8"}}}},
        {"Precision",
            {{"fp32", {"training.precision=\"fp32\""}}, {"bf16", {"training.precision=\"bf16\""}},
                {"fp16 with a loss scale", {"training.precision=\"fp16\""}}, {"fp8 tensorwise", {fp8}},
                {"fp8 rowwise", {"training.fp8_recipe=\"rowwise\"", fp8}},
                {"fp8 blockwise", {"training.fp8_recipe=\"blockwise\"", fp8}},
                {"mxfp8", {"training.fp8_recipe=\"mxfp8\"", fp8, b200}},
                {"fp8 in experts", {fp8, mixtral, "layout.ep=8"}},
                {"fp8 under latent attention", {fp8, deepseek, "layout.ep=8"}},
                {"fp8 blockwise in experts", {"training.fp8_recipe=\"blockwise\"", fp8, mixtral, "layout.ep=8"}},
                {"fp8 under latent attention and TP", {fp8, deepseek, "layout.ep=8", tp}},
                {"nvfp4", {"training.precision=\"nvfp4\"", b200}}, {"fused kernels", {"training.compile=true"}},
                {"plain kernels", {"training.compile=false"}}, {"gradients in bf16", {"training.grad_dtype=\"bf16\""}},
                {"optimizer states in bf16", {"training.optimizer_state_dtype=\"bf16\""}}}},
        {"Memory",
            {{"full recomputation", {"training.recompute=\"full\""}}, {"selective recomputation", {selective}},
                {"recomputation by operation", {"training.recompute_parts=[\"operations\"]", selective}},
                {"of MLPs and norms", {"training.recompute_parts=[\"mlp\",\"layer-norm\"]", selective}},
                {"of experts", {"training.recompute_parts=[\"moe\"]", selective, mixtral}},
                {"of every n-th layer", {"training.recompute_every=2", "training.recompute=\"full\""}},
                {"activations offloaded", {"training.offload=\"activations\""}},
                {"optimizer offloaded", {"training.offload=\"optimizer\""}},
                {"optimizer in backward", joined({"training.optimizer_in_backward=true"}, unclipped)}}},
        {"Attention",
            {{"ring", {"training.cp_method=\"ring\"", cp}}, {"all-gather", {"training.cp_method=\"all-gather\"", cp}},
                {"Ulysses", {"training.cp_method=\"ulysses\"", cp}}, {"linear biases", {"model=\"bloom-176b\"", cp}},
                {"masked documents", {"run.documents.mask=true", cp}}, {"windows", {"model=\"gemma-3-4b\""}},
                {"norms of queries and keys", {"model=\"qwen3-8b\""}},
                {"parallel residual", {"model=\"gpt-neox-20b\""}}, {"latent", {deepseek, "layout.ep=8", tp}}}},
        {"Optimizers",
            {{"AdamW", {"training.optimizer=\"fused-adamw\""}}, {"Adam with L2 decay", {"training.optimizer=\"adam\""}},
                {"Muon", {"training.optimizer=\"muon\""}}, {"WSD", {"run.lr_schedule=\"wsd\""}},
                {"cosine", {"run.lr_schedule=\"cosine\""}},
                {"batch-size ramp-up",
                    {R"(training.ramp_up={"start":64,"increment":64,"samples":1024})", "run.steps=100"}}}},
    };
}

ResolvedPlan plan_of(const Technique& technique, std::size_t first = 0)
{
    std::vector<std::string> all{"model=\"llama-3.1-8b\"", "cluster=\"dgx-h100\"", "gpus=16",
        "training.precision=\"bf16\"", "training.seq_len=2048", "training.micro_batch=1", "training.global_batch=128",
        "layout.dp=null"};
    // What it needs is set before it; a model or cluster before what goes by it.
    std::vector<std::string> more(technique.with.begin() + std::ptrdiff_t(first), technique.with.end());
    std::ranges::rotate(more, more.begin() + (first == 0 ? 1 : 0));
    std::ranges::stable_partition(
        more, [](const std::string& each) { return each.starts_with("model=") || each.starts_with("cluster="); });
    ResolvedPlan plan = tiny_plan("tokens.bin", joined(all, more));
    plan.cluster.gpu.memory_gib = 4000; // what is asked is not whether it fits
    return plan;
}

std::string field_of(const std::string& assignment)
{
    return assignment.substr(0, assignment.find('='));
}

Json value_in(const ResolvedPlan& plan, const std::string& path)
{
    std::string pointer = "/" + path;
    std::ranges::replace(pointer, '.', '/');
    return to_json(plan, PresetStyle::ids).value(Json::json_pointer(pointer), Json());
}

std::string predicted(const ResolvedPlan& plan)
{
    if (!check(plan).empty())
        return "";
    const Prediction answer = predict(plan);
    return answer.step_time_s.value_or(0) > 0 ? "yes" : "";
}

// "varied": a search, or the advice beside an answer, tries it by itself; "kept": a search of a plan with it finds
// layouts that have it.
std::string searched(const Technique& technique, const ResolvedPlan& plan)
{
    const std::string field = field_of(technique.with.front());
    const Json wanted = value_in(plan, field);
    const std::vector<std::string> axes = axis_names();
    if (std::ranges::find(axes, field.substr(field.find('.') + 1)) != axes.end())
        return "varied";
    const ResolvedPlan without = plan_of(technique, 1);
    for (const PlanEdit& edit : single_edits(without))
        if (value_in(edit.plan, field) == wanted && value_in(without, field) != wanted)
            return "varied";
    SearchRequest request;
    request.plan = plan;
    request.space = default_space(plan, {plan.gpus});
    SearchSpace& space = request.space;
    space.tp = {plan.layout.tp};
    space.cp = {plan.layout.cp};
    space.pp = {plan.layout.pp};
    space.ep = {plan.layout.ep};
    space.recompute = {plan.training.recompute};
    space.micro_batch = {1, 2};
    request.objective = *parse_objective("tps_per_gpu", "test");
    request.top = 1;
    const SearchResult result = search(request);
    if (result.best.empty())
        return "";
    return value_in(fourfold::plan_of(result.best.front(), request), field) == wanted ? "kept" : "";
}

std::string run(const ResolvedPlan& plan)
{
    return check(plan).empty() && trainer_limits(plan).empty() ? "yes" : "";
}

std::string shown(const Technique& technique)
{
    const Field* const field = find_field(field_of(technique.with.front()));
    return field != nullptr && !field->help.empty() ? "yes" : "";
}

TEST(Techniques, ArePredictedSearchedRunAndShown)
{
    std::string made
        = "# Techniques\n\nEach of the papers' techniques as a plan of 16 GPUs names it. *Predicted*: `predict` "
          "answers. *Searched*: a search or the\nadvice beside an answer tries it by itself (varied), or finds "
          "layouts of a plan with it (kept). *Run*: neither planner nor\ntrainer refuses it; that it equals one "
          "rank is what the parity tests show. *Shown*: the plan's forms and the schema have it.\n"
          "`trainer_limits_test --gtest_filter='Techniques*'` makes this table.\n";
    int empty = 0;
    std::string where;
    for (const Chapter& chapter : chapters()) {
        made += "\n## " + std::string(chapter.title)
            + "\n| technique | in the plan | predicted | searched | run | shown |\n| --- | --- | --- | --- | --- | --- "
              "|\n";
        for (const Technique& technique : chapter.techniques) {
            const ResolvedPlan plan = plan_of(technique);
            const std::string cells[] = {predicted(plan), searched(technique, plan), run(plan), shown(technique)};
            made += std::string("| ") + technique.name + " | `" + technique.with.front() + "` |";
            for (const std::string& cell : cells) {
                made += cell.empty() ? " |" : ' ' + cell + " |";
                if (cell.empty()) {
                    ++empty;
                    where += std::string(technique.name) + " ";
                }
            }
            made += '\n';
        }
    }
    EXPECT_EQ(empty, 1) << where; // predicted, and refused by the trainer: each says why (guide, chapter 20)
    const std::string file = FOURFOLD_SOURCE_DIR "/resources/reports/techniques.md";
    if (std::getenv("FOURFOLD_UPDATE_TECHNIQUES") != nullptr) {
        ASSERT_TRUE(write_file_atomically(file, made));
        return;
    }
    const auto text = read_text_file(file);
    ASSERT_TRUE(text) << text.error().line();
    EXPECT_EQ(*text, made) << "FOURFOLD_UPDATE_TECHNIQUES=1 trainer_limits_test writes it anew";
}

} // namespace
} // namespace fourfold::testing
