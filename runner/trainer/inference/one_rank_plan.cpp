// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/inference/one_rank_plan.h"

#include "core/plan/trainable.h"
#include "runner/trainer/checkpoint/names.h"

namespace fourfold::trainer {

std::filesystem::path checkpoint_folder(const std::filesystem::path& named)
{
    const auto steps = step_of(named) ? std::map<int, std::filesystem::path>() : step_folders(named);
    return steps.empty() ? named : steps.rbegin()->second;
}

Expected<ResolvedPlan> one_rank_plan(const std::filesystem::path& folder)
{
    const std::string where = (folder / "config.json").string();
    FOURFOLD_TRY(const Json config, read_json_file(where));
    ResolvedPlan plan;
    FOURFOLD_TRY(plan.model, model_from_config(config, where));
    if (const auto family = check_trainer_family(plan.model); !family)
        return Problem{ProblemCode::unsupported, family.error().message, family.error().hint, where};
    plan.name = plan.model.name;
    plan.padded_vocab = plan.model.vocab;
    plan.layout.stage_layers = {plan.model.layers};
    plan.training.precision = Precision::fp32;
    plan.training.seq_len = static_cast<int>(std::min<int64_t>(plan.model.max_positions, 1 << 20));
    return plan;
}

} // namespace fourfold::trainer
