// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/trained.h"

#include "tests/parity/event_schema.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::testing {

Trained train(const ResolvedPlan& plan, const std::filesystem::path& folder, bool cuda)
{
    std::filesystem::create_directories(folder);
    // By name: a plan may be of a cluster with precisions that no plain CPU has.
    const auto program = cuda ? cuda_trainer_program() : trainer_program();
    Ranks ranks(plan.gpus, {program, "--plan", write_plan(plan, folder), "--run-dir", folder}, folder,
        {{"FOURFOLD_BACKEND", cuda ? "nccl" : "gloo"}});
    Trained trained;
    for (const int status : ranks.wait(std::chrono::seconds(200)))
        if (status != 0)
            trained.problem = ranks.log(0) + (plan.gpus > 1 ? ranks.log(plan.gpus - 1) : "");
    for (int rank = 0; rank < plan.gpus; ++rank)
        for (const Json& event : ranks.events(rank)) {
            EXPECT_EQ(schema_violation(event), "");
            if (event["event"] == "step") {
                const int step = event["step"].get<int>();
                trained.steps[step] = event;
                if (event["loss"].is_number())
                    trained.losses[step] = event["loss"].get<double>();
            }
            if (event["event"] == "checkpoint")
                trained.checkpoints[event["step"].get<int>()] = event["path"].get<std::string>();
            if (event["event"] == "warning")
                trained.warnings.push_back(event["message"].get<std::string>());
            if (event["event"] == "error")
                trained.errors.push_back(event);
        }
    return trained;
}

} // namespace fourfold::testing
