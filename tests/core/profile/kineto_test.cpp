// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of PyTorch's profiler: what is read of them, and their times against counting moment by moment.
#include "core/base/json.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "core/profile/kernel_context.h"
#include "core/profile/step_trace.h"
#include "core/schedule/chrome_trace.h"
#include "tests/kineto_trace.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <map>
#include <random>
#include <set>

namespace fourfold {
namespace {

using test::kineto_event;

class Kineto : public testing::Test {
protected:
    test::TemporaryFolder folder;

    [[nodiscard]] Expected<Profile> read(const std::string& text) const
    {
        const auto file = folder.path() / "trace.json";
        std::ofstream(file, std::ios::binary) << text;
        return read_kineto(file);
    }
};

TEST_F(Kineto, KernelsStepsAndCollectivesAreRead)
{
    const auto profile = read(test::kineto_trace().dump());
    ASSERT_TRUE(profile) << profile.error().line();
    EXPECT_EQ(profile->device, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(profile->rank, 5);
    EXPECT_EQ(profile->ranks, 8);
    EXPECT_EQ(profile->kernels.size(), 6u);
    ASSERT_EQ(profile->steps.size(), 2u) << "those of the GPU";
    EXPECT_DOUBLE_EQ(profile->steps[1].start_s, 0.002);

    const auto step = step_of(*profile);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->number, 4);
    EXPECT_NEAR(step->length_s, 1e-3, 1e-12);
    ASSERT_EQ(step->kernels.size(), 6u);
    EXPECT_NEAR(step->kernels.front().end_s, 20e-6, 1e-12) << "cut where the step begins";
    const KernelTimes times = kernel_times(*step);
    EXPECT_NEAR(times[KernelKind::product], 320e-6, 1e-12);
    EXPECT_NEAR(times[KernelKind::other], 100e-6, 1e-12);
    EXPECT_NEAR(times[KernelKind::attention], 200e-6, 1e-12);
    EXPECT_NEAR(times[KernelKind::communication], 500e-6, 1e-12);
    EXPECT_NEAR(times.exposed_communication, 100e-6, 1e-12) << "from 2,700 to 2,800 us nothing else runs";
    EXPECT_NEAR(times.exposed_copies, 50e-6, 1e-12);
    EXPECT_NEAR(times.idle, (80 + 100 + 50) * 1e-6, 1e-12);

    const auto uses = collective_uses(*step);
    ASSERT_EQ(uses.size(), 1u);
    EXPECT_EQ(uses[0].collective, "_allgather_base");
    EXPECT_EQ(uses[0].group, "fsdp");
    EXPECT_EQ(uses[0].ranks, 8);
    EXPECT_EQ(uses[0].bytes, 8192 * 2.0);

    const auto before = step_of(*profile, 3);
    ASSERT_TRUE(before);
    EXPECT_EQ(before->kernels.size(), 1u);
    const auto none = step_of(*profile, 9);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().hint, "it has 3, 4");
}

// Against moments of one microsecond, counted one by one.
TEST_F(Kineto, TimesAreThoseOfCountingMoments)
{
    std::mt19937 random(7);
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    for (int round = 0; round < 20; ++round) {
        StepProfile step;
        step.length_s = 400e-6;
        for (int i = 0; i < 40; ++i) {
            const int start = below(390), end = std::min(400, start + 1 + below(30));
            Kernel kernel;
            kernel.kind = static_cast<KernelKind>(below(static_cast<int>(kWords<KernelKind>.size())));
            kernel.start_s = start * 1e-6;
            kernel.end_s = end * 1e-6;
            step.kernels.push_back(kernel);
        }
        KernelTimes counted;
        for (int moment = 0; moment < 400; ++moment) {
            std::array<bool, kWords<KernelKind>.size()> runs{};
            for (const Kernel& kernel : step.kernels) {
                const double middle = (moment + 0.5) * 1e-6;
                runs[static_cast<std::size_t>(kernel.kind)] |= kernel.start_s < middle && middle < kernel.end_s;
            }
            const bool computes = runs[0] || runs[1] || runs[2] || runs[3];
            for (std::size_t kind = 0; kind < runs.size(); ++kind)
                counted.busy[kind] += runs[kind] ? 1e-6 : 0;
            counted.exposed_communication += !computes && runs[4] ? 1e-6 : 0;
            counted.exposed_copies += !computes && !runs[4] && runs[5] ? 1e-6 : 0;
            counted.idle += !computes && !runs[4] && !runs[5] ? 1e-6 : 0;
        }
        const KernelTimes times = kernel_times(step);
        for (std::size_t kind = 0; kind < counted.busy.size(); ++kind)
            EXPECT_NEAR(times.busy[kind], counted.busy[kind], 1e-9);
        EXPECT_NEAR(times.exposed_communication, counted.exposed_communication, 1e-9);
        EXPECT_NEAR(times.exposed_copies, counted.exposed_copies, 1e-9);
        EXPECT_NEAR(times.idle, counted.idle, 1e-9);
    }
}

TEST_F(Kineto, TheRowsAddUpToTheStep)
{
    const auto plan = resolve(
        *plan_from_json({{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", "torchtitan"}}, ""),
        Presets());
    ASSERT_TRUE(plan) << plan.error().line();
    const Prediction prediction = predict(*plan);
    const auto profile = read(test::kineto_trace().dump());
    const auto rows = part_differences(prediction, *step_of(*profile));
    const auto row = [&](const std::string& part) {
        const auto at
            = std::find_if(rows.begin(), rows.end(), [&](const PartDifference& each) { return each.part == part; });
        return at == rows.end() ? PartDifference() : *at;
    };
    EXPECT_EQ(rows.back().part, "step");
    EXPECT_EQ(rows.back().predicted_s, prediction.step_time_s);
    EXPECT_EQ(row("matrix products").kernels, 2);
    EXPECT_GT(*row("matrix products").predicted_s, *row("attention").predicted_s);
    EXPECT_FALSE(row("copies").predicted_s);
    // One stream computes here, so that what computes, what is not hidden and what waits make the step.
    double sum = 0;
    for (const char* part : {"matrix products", "attention", "other kernels", "communication, not hidden", "idle"})
        sum += row(part).measured_s;
    EXPECT_NEAR(sum, 1e-3, 1e-12);
}

TEST_F(Kineto, LayersAndWorkOfKernelsAreRead)
{
    const auto profile = read(test::kineto_trace().dump());
    ASSERT_TRUE(profile) << profile.error().line();
    const auto step = step_of(*profile, 4);
    ASSERT_TRUE(step);
    const auto kernel = [&](const std::string& name) {
        return *std::ranges::find_if(step->kernels, [&](const Kernel& each) { return each.name.starts_with(name); });
    };
    EXPECT_EQ(kernel("nvjet").layer, 3) << "by the range of the host in which it was launched";
    EXPECT_EQ(kernel("nvjet").flops, 2.0 * 1024 * 4096 * 512);
    EXPECT_EQ(kernel("void flash").layer, 5) << "by a range on its stream";
    EXPECT_EQ(kernel("void flash").flops, 0);
    EXPECT_EQ(kernel("void at::native").layer, -1);
    EXPECT_EQ(kernel("Memcpy").bytes, 1e6);
    for (const auto& [name, layer] :
        {std::pair{"FSDP::all_gather (layers.12)", 12}, {"nn.Module: LlamaDecoderLayer_7", 7}, {"layer 4", 4},
            {"model.layers.0.mlp", 0}, {"transformer.blocks.31", 31}})
        EXPECT_EQ(layer_of_range(name), layer) << name;
    for (const char* name : {"layers", "LayerNorm_3x", "layer norm", "layers.99999999999999"})
        EXPECT_FALSE(layer_of_range(name)) << name;
    EXPECT_EQ(flops_of_operator("aten::addmm", {{8}, {2, 3}, {3, 8}}), 96);
    EXPECT_EQ(flops_of_operator("aten::bmm", {{5, 2, 3}, {5, 3, 8}}), 480);
    EXPECT_EQ(flops_of_operator("aten::mm", {{2, 3}, {4, 8}}), 0) << "shapes that do not fit";
    EXPECT_EQ(flops_of_operator("aten::add", {{2, 3}, {3, 8}}), 0);
}

TEST(LayerRanges, TheInnermostRangeOfTheThreadCounts)
{
    LayerRanges ranges;
    ranges.add(1, 0, 10, 1);
    ranges.add(1, 2, 4, 2);
    ranges.add(1, 2.5, 3, 3);
    ranges.add(1, 20, 21, 4);
    ranges.add(2, 0, 1, 5);
    ranges.sort();
    for (const auto& [time, layer] : {std::pair{1.0, 1}, {2.0, 2}, {2.7, 3}, {3.5, 2}, {5.0, 1}, {10.0, -1}, {20.5, 4}})
        EXPECT_EQ(ranges.layer_at(1, time), layer) << time;
    EXPECT_EQ(ranges.layer_at(2, 0.5), 5);
    EXPECT_EQ(ranges.layer_at(2, 5), -1);
    EXPECT_EQ(ranges.layer_at(3, 0.5), -1);
}

TEST_F(Kineto, PackedTracesAreUnpacked)
{
    const std::string text = test::kineto_trace().dump();
    const auto file = folder.path() / "trace.json.gz";
    gzFile out = gzopen(file.c_str(), "wb");
    ASSERT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), int(text.size()));
    gzclose(out);
    const auto profile = read_kineto(file);
    ASSERT_TRUE(profile) << profile.error().line();
    EXPECT_EQ(profile->kernels.size(), 6u);
    EXPECT_TRUE(looks_like_trace(file));
    const auto trace = read_step_trace(file);
    ASSERT_TRUE(trace) << trace.error().line();
    EXPECT_TRUE(trace->profile && !trace->stages);
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 30);
    const auto torn = read_kineto(file);
    ASSERT_FALSE(torn);
    EXPECT_NE(torn.error().line().find("cannot be unpacked: it ends too early"), std::string::npos)
        << torn.error().line();
}

TEST_F(Kineto, TracesOfStagesAreToldFromThoseOfKernels)
{
    Timeline stages{2, 3, {{0, SpanKind::forward, 0, 0, 0, 1}, {1, SpanKind::backward, 0, 0, 1, 3}}};
    const auto file = folder.path() / "own.json";
    std::ofstream(file) << chrome_trace(stages, "own").dump();
    EXPECT_TRUE(looks_like_trace(file));
    const auto trace = read_step_trace(file);
    ASSERT_TRUE(trace) << trace.error().line();
    ASSERT_TRUE(trace->stages);
    EXPECT_EQ(trace->stages->spans.size(), 2u);
    Json event = chrome_trace(stages, "own");
    event["event"] = "trace";
    std::ofstream(file) << "{\"event\": \"start\"}\n" << event.dump() << '\n';
    EXPECT_FALSE(looks_like_trace(file)) << "events of a run, of which one is a trace";
    // As `fourfold run --json` prints them: what an object has first is nowhere promised.
    for (const char* first :
        {R"({"time": 1, "event": "start"})", R"({"run": "a \"} {[", "of": [{"traceEvents": 1}]})"}) {
        std::ofstream(file) << first << '\n' << event.dump() << '\n';
        EXPECT_FALSE(looks_like_trace(file)) << first;
    }
    std::ofstream(file) << event.dump();
    EXPECT_FALSE(looks_like_trace(file)) << "that event alone";
    std::ofstream(file) << R"({"name": "\\\"}", "held": {"event": 1}, "traceEvents" : []})";
    EXPECT_TRUE(looks_like_trace(file));
    std::ofstream(file) << "{\"model\": 1}";
    EXPECT_FALSE(looks_like_trace(file));
    EXPECT_FALSE(read_step_trace(file));
}

TEST_F(Kineto, RanksAndStreamsAreTracks)
{
    std::vector<RankStep> ranks;
    for (const int rank : {6, 1})
        ranks.push_back({rank, *step_of(*read(test::kineto_trace(rank).dump()))});
    const KernelTimeline timeline = measured_kernels(ranks);
    std::vector<std::string> names;
    std::size_t spans = 0;
    for (const KernelTrack& track : timeline.tracks) {
        names.push_back(track.name);
        spans += track.spans.size();
    }
    EXPECT_EQ(names,
        (std::vector<std::string>{"rank 1, stream 7, compute", "rank 1, stream 20, fsdp", "rank 1, stream 24, copies",
            "rank 6, stream 7, compute", "rank 6, stream 20, fsdp", "rank 6, stream 24, copies"}));
    EXPECT_EQ(spans, 12u);
    EXPECT_EQ(timeline.facts.size(), 6u) << "facts are kept once for both ranks";
    EXPECT_NEAR(timeline.length_s, 1e-3, 1e-12);
    const KernelSpan& gather = timeline.tracks[1].spans.front();
    EXPECT_EQ(timeline.facts[gather.facts].group, "fsdp");
    const Table table = kernels_table(timeline);
    ASSERT_EQ(table.rows.size(), 12u);
    const auto column = [&](const char* key) {
        return static_cast<std::size_t>(std::ranges::find(table.columns, key, &Column::key) - table.columns.begin());
    };
    const auto row = std::ranges::find_if(
        table.rows, [&](const auto& cells) { return std::get<std::string>(cells[1]).starts_with("ncclDev"); });
    ASSERT_NE(row, table.rows.end());
    EXPECT_NEAR(std::get<double>((*row)[column("bytes_s")]), 8192 * 2 / 500e-6, 1);
}

// What is drawn of a prediction is its prices: each kernel as long as its operation is priced at, as often as it runs.
TEST_F(Kineto, PredictedKernelsAreThePricesOfTheOperations)
{
    for (const char* schedule : {"1f1b", "zb-h1"}) {
        Json json{{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 16}, {"stack", "torchtitan"},
            {"layout", {{"tp", 2}, {"pp", 2}, {"dp", 4}}},
            {"training", {{"schedule", schedule}, {"global_batch", 32}, {"micro_batch", 1}, {"seq_len", 4096}}}};
        const auto plan = resolve(*plan_from_json(json, ""), Presets());
        ASSERT_TRUE(plan) << plan.error().line();
        const Prediction prediction = predict(*plan);
        ASSERT_FALSE(prediction.timeline.spans.empty());
        const KernelTimeline timeline = predicted_kernels(prediction, {0, 1});
        EXPECT_FALSE(timeline.is_cut);
        EXPECT_EQ(timeline.length_s, prediction.timeline.length_s);
        std::set<std::string> names;
        std::set<int> layers;
        for (const KernelTrack& track : timeline.tracks) {
            names.insert(track.name);
            EXPECT_EQ(track.ranks, "8 ranks alike");
            EXPECT_TRUE(std::ranges::is_sorted(track.spans, {}, &KernelSpan::start_s));
            for (const KernelSpan& span : track.spans) {
                EXPECT_LE(span.end_s, timeline.length_s * (1 + 1e-9));
                if (span.layer >= 0)
                    layers.insert(span.layer);
            }
        }
        for (const char* track : {"stage 0, compute", "stage 0, tp", "stage 1, compute", "stage 0, dp", "stage 1, pp"})
            EXPECT_TRUE(names.contains(track)) << track << " of " << schedule;
        EXPECT_EQ(layers.size(), std::size_t(plan->model.layers)) << "both stages' layers";
        EXPECT_EQ(*layers.rbegin(), plan->model.layers - 1);
        // The head's product is on the last stage, once a micro-batch and forward.
        const auto head = std::ranges::find_if(prediction.operations, [](const PricedOperation& priced) {
            return priced.operation.name == "vocabulary head" && priced.operation.phase == Phase::forward;
        });
        int heads = 0;
        for (const KernelTrack& track : timeline.tracks) {
            for (const KernelSpan& span : track.spans) {
                const KernelFacts& facts = timeline.facts[span.facts];
                if (facts.name != "vocabulary head" || track.name != "stage 1, compute")
                    continue;
                ++heads;
                if (head != prediction.operations.end() && facts.flops == head->operation.flops()) {
                    EXPECT_LE(span.end_s - span.start_s, head->seconds * (1 + 1e-9));
                }
            }
        }
        EXPECT_EQ(heads, plan->training.micro_batches) << schedule;
        // Too many: every stage is there to its end all the same, later passes as one on each track.
        const KernelTimeline cut = predicted_kernels(prediction, {0, 1}, 1000);
        EXPECT_TRUE(cut.is_cut);
        ASSERT_EQ(cut.tracks.size(), timeline.tracks.size());
        std::size_t passes = 0;
        double flops = 0, whole_flops = 0;
        for (std::size_t i = 0; i < cut.tracks.size(); ++i) {
            const KernelTrack &part = cut.tracks[i], &whole = timeline.tracks[i];
            EXPECT_EQ(part.name, whole.name);
            const auto end
                = [](const KernelTrack& track) { return std::ranges::max(track.spans, {}, &KernelSpan::end_s).end_s; };
            EXPECT_NEAR(end(part), end(whole), 1e-9 * timeline.length_s) << part.name << " of " << schedule;
            EXPECT_NEAR(part.spans.front().start_s, whole.spans.front().start_s, 1e-9 * timeline.length_s);
            for (const KernelSpan& span : part.spans) {
                passes += cut.facts[span.facts].name.find(" pass, ") != std::string::npos ? 1 : 0;
                flops += cut.facts[span.facts].flops;
            }
            for (const KernelSpan& span : whole.spans)
                whole_flops += timeline.facts[span.facts].flops;
        }
        EXPECT_GT(passes, 0u);
        EXPECT_NEAR(flops, whole_flops, 1e-6 * whole_flops) << "nothing is lost: " << schedule;
    }
    EXPECT_TRUE(predicted_kernels(Prediction(), {0}).tracks.empty());
}

// The gathers of a sharded model run while its layers compute, not behind them.
TEST_F(Kineto, WhatHidesIsDrawnBesideWhatItHidesBehind)
{
    const auto plan = resolve(
        *plan_from_json({{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", "torchtitan"},
                            {"training", {{"sharding", "parameters"}, {"seq_len", 8192}}}},
            ""),
        Presets());
    ASSERT_TRUE(plan) << plan.error().line();
    const Prediction prediction = predict(*plan);
    const KernelTimeline timeline = predicted_kernels(prediction, {0});
    const auto track
        = [&](const std::string& name) { return std::ranges::find(timeline.tracks, name, &KernelTrack::name); };
    ASSERT_NE(track("stage 0, dp"), timeline.tracks.end());
    double hidden = 0, whole = 0;
    for (const KernelSpan& gather : track("stage 0, dp")->spans) {
        if (gather.layer < 0)
            continue;
        whole += gather.end_s - gather.start_s;
        for (const KernelSpan& kernel : track("stage 0, compute")->spans)
            hidden += std::max(0.0, std::min(gather.end_s, kernel.end_s) - std::max(gather.start_s, kernel.start_s));
    }
    EXPECT_GT(whole, 0);
    EXPECT_GT(hidden, 0.5 * whole);
}

TEST_F(Kineto, WhatIsNoTraceIsSaidInOneLine)
{
    const std::string whole = test::kineto_trace().dump();
    Json no_kernels = test::kineto_trace();
    Json& events = no_kernels["traceEvents"];
    events.erase(events.begin() + 10, events.end());
    for (const auto& [text, said] :
        {std::pair{std::string("{}"), "no list \"traceEvents\""}, {std::string("[]"), "it is a list"},
            {std::string("3"), "single value"}, {std::string(""), "no whole JSON"},
            {whole.substr(0, whole.size() - 20), "no whole JSON"}, {no_kernels.dump(), "no kernel"},
            {std::string("\x1f\x8b rest"), "cannot be unpacked"}, {std::string(200, '['), "it is a list"},
            {"{\"traceEvents\": " + std::string(200, '['), "nested deeper"}}) {
        const auto profile = read(text);
        ASSERT_FALSE(profile) << said;
        EXPECT_NE(profile.error().line().find(said), std::string::npos) << profile.error().line();
        EXPECT_NE(profile.error().line().find("trace.json"), std::string::npos);
        EXPECT_EQ(profile.error().line().find('\n'), std::string::npos);
    }
    EXPECT_FALSE(read_kineto(folder.path() / "missing.json"));
    // The parser would keep it whole, and a small packed file may hold gigabytes.
    const std::string long_text(5 << 20, 'x'), gap(5 << 20, ' '), quotes = "\\\"" + long_text;
    for (const std::string& text :
        {"{\"traceEvents\": " + gap + "[]}", "{\"" + quotes + "\": 1, \"traceEvents\": []}"}) {
        const auto profile = read(text);
        ASSERT_FALSE(profile);
        EXPECT_NE(profile.error().line().find("a text or a gap in it is longer than 4 MiB"), std::string::npos)
            << profile.error().line();
    }
    std::string apart = test::kineto_trace().dump();
    apart.insert(1, std::string(1 << 20, '\n')); // as somebody may have laid it out
    EXPECT_TRUE(read(apart));
    // Figures of hundreds of digits, or none at all.
    for (const auto& beyond : {kineto_event("kernel", "gemm", 0, 1e300), kineto_event("kernel", "gemm", -1e300, 1),
             kineto_event(
                 "kernel", "ncclDevKernel_AllGather", 0, 1, {{"Out msg nelems", 1e308}, {"dtype", "Double"}})}) {
        Json far = test::kineto_trace();
        far["traceEvents"].push_back(beyond);
        const auto profile = read(far.dump());
        ASSERT_FALSE(profile) << beyond;
        EXPECT_NE(profile.error().line().find("beyond all measure"), std::string::npos) << profile.error().line();
    }
    Json many = test::kineto_trace();
    for (int step = 10; step < 1000; ++step)
        many["traceEvents"].push_back(
            kineto_event("gpu_user_annotation", "ProfilerStep#" + std::to_string(step), 3000 + step, 1));
    const auto unknown = step_of(*read(many.dump()), 5000);
    ASSERT_FALSE(unknown);
    EXPECT_LT(unknown.error().line().size(), 200u) << unknown.error().line();
    Json far = test::kineto_trace();
    far["distributedInfo"] = {{"rank", 4294967297}, {"world_size", -8}};
    const auto place = read(far.dump());
    ASSERT_TRUE(place) << place.error().line();
    EXPECT_EQ(place->rank, INT32_MAX) << "not another one's";
    EXPECT_EQ(place->ranks, 0) << "not known";
    // Values of other kinds than expected are passed over.
    Json odd = test::kineto_trace();
    odd["traceEvents"].push_back({{"ph", "X"}, {"cat", 7}, {"name", Json::array()}, {"ts", "now"}, {"dur", -1}});
    odd["traceEvents"].push_back("text");
    odd["distributedInfo"] = Json::array({1, 2});
    const auto profile = read(odd.dump());
    ASSERT_TRUE(profile) << profile.error().line();
    EXPECT_EQ(profile->kernels.size(), 6u);
}

TEST(KernelKinds, AreKnownByName)
{
    for (const auto& [name, kind] :
        {std::pair{"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", KernelKind::communication},
            {"void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>", KernelKind::optimizer},
            {"cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16>", KernelKind::product},
            {"fmha_cutlassB_bf16_aligned_64x64_k128_sm80", KernelKind::attention},
            {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_31", KernelKind::attention},
            {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn", KernelKind::product},
            {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", KernelKind::other},
            {"void at::native::(anonymous namespace)::layer_norm_grad_input_kernel", KernelKind::other}})
        EXPECT_EQ(kernel_kind(name), kind) << name;
}

} // namespace
} // namespace fourfold
