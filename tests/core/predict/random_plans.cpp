// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/predict/random_plans.h"

#include <random>
#include <stdexcept>

namespace fourfold::test {
namespace {

class Dice {
public:
    explicit Dice(unsigned seed)
        : random_(seed)
    {
    }
    // Distributions of the standard library differ between implementations; this does not.
    int below(int limit) { return int(random_() % unsigned(limit)); }
    bool coin() { return below(2) == 1; }
    template <typename T>
    const T& of(const std::vector<T>& values)
    {
        return values[std::size_t(below(int(values.size())))];
    }

private:
    std::mt19937 random_;
};

Json random_plan(Dice& dice)
{
    using Strings = std::vector<std::string>;
    const std::string model = dice.of(Strings{"llama-3.1-8b", "llama-3.1-70b", "llama-2-7b", "llama-2-13b", "gpt3-175b",
        "bloom-176b", "mixtral-8x7b", "deepseek-v3", "gpt2", "qwen2.5-7b", "llama-3.2-1b"});
    const std::string cluster = dice.of(Strings{"abci-a", "tsubame4", "grand-teton-h100", "jean-zay-a100", "dgx-h100",
        "dgx-b200", "gb200-nvl72", "kempner-h100", "tpu-v5p-pod", "mi300x-8", "this-computer"});
    const std::string stack
        = dice.of(Strings{"generic", "fourfold", "megatron-lm", "megatron-deepspeed", "torchtitan", "nanotron"});
    const auto power = [&](int most) { return 1 << dice.below(most + 1); };
    const int tp = power(3), cp = dice.below(3) == 0 ? power(2) : 1, pp = dice.coin() ? power(3) : 1, dp = power(4);
    const int virtual_stages = pp > 1 && dice.below(3) == 0 ? 2 : 1;
    Json layout{{"tp", tp}, {"cp", cp}, {"pp", pp}, {"dp", dp}, {"virtual_stages", virtual_stages}};
    if (model == "mixtral-8x7b" || model == "deepseek-v3") {
        layout["ep"] = power(3);
        if (dice.coin())
            layout["etp"] = 1;
    }
    const int micro_batch = power(2);
    const int micro_batches = virtual_stages > 1 ? pp * (1 + dice.below(4)) : 1 + dice.below(24);
    Json training{{"seq_len", 512 << dice.below(4)}, {"micro_batch", micro_batch},
        {"global_batch", micro_batch * micro_batches * dp},
        {"sharding", dice.of(Strings{"none", "optimizer", "gradients", "parameters", "hybrid"})},
        {"recompute", dice.of(Strings{"none", "selective", "full"})},
        {"precision", dice.of(Strings{"bf16", "fp16", "fp8", "fp32", "nvfp4"})},
        {"schedule", virtual_stages > 1 ? "interleaved" : dice.of(Strings{"1f1b", "gpipe"})},
        {"sequence_parallel", dice.coin()}, {"compile", dice.coin()},
        {"attention", dice.of(Strings{"flash2", "flash3", "cudnn", "fused-softmax", "unfused"})},
        {"cp_method", dice.of(Strings{"ring", "all-gather", "ulysses"})}};
    if (dice.below(4) == 0)
        training["recompute_layers"] = 1;
    if (training["sequence_parallel"].get<bool>())
        training["async_tp"] = dice.coin();
    return {{"model", model}, {"cluster", cluster}, {"gpus", tp * cp * pp * dp}, {"stack", stack}, {"layout", layout},
        {"training", training}};
}

} // namespace

const Presets& source_presets()
{
    static const Presets presets({std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets"});
    return presets;
}

ResolvedPlan resolved(const Json& plan)
{
    auto document = plan_from_json(plan, "test.plan.json");
    if (!document)
        throw std::runtime_error(document.error().line());
    auto result = resolve(*document, source_presets());
    if (!result)
        throw std::runtime_error(result.error().line());
    return *result;
}

ResolvedPlan example(const std::string& name)
{
    const auto file = std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets" / "plans" / (name + ".plan.json");
    auto json = read_json_file(file);
    if (!json)
        throw std::runtime_error(json.error().line());
    return resolved(*json);
}

std::vector<ResolvedPlan> random_valid_plans(int count, unsigned seed)
{
    Dice dice(seed);
    std::vector<ResolvedPlan> plans;
    for (int tries = 0; int(plans.size()) < count && tries < 200 * count; ++tries) {
        ResolvedPlan plan = resolved(random_plan(dice));
        if (check(plan).empty())
            plans.push_back(std::move(plan));
    }
    return plans;
}

} // namespace fourfold::test
