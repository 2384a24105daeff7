// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/launch_plan.h"

#include "core/base/paths.h"
#include "core/calibration/user/evidence.h"
#include "core/plan/presets.h"
#include "core/plan/trainable.h"
#include "runner/target/room.h"

#include <cstdlib>

namespace fourfold {

namespace {
constexpr const char* kMeasureVariable = "FOURFOLD_MEASURE"; // the trainer's, see runner/trainer/start_up.h

Problem problem_of(const std::vector<Reason>& reasons, const std::string& where)
{
    const Reason& first = reasons.front();
    Problem problem{ProblemCode::bad_input, first.field + ": " + first.message, "", where};
    if (reasons.size() > 1)
        problem.message += "; and " + std::to_string(reasons.size() - 1) + " more";
    return problem;
}

} // namespace

Json coordinates_json(const Layout& layout, int rank)
{
    const Coordinates at = layout.coordinates(rank);
    return {{"tp", at.tp}, {"cp", at.cp}, {"pp", at.pp}, {"dp", at.dp}};
}

Expected<LaunchPlan> plan_launch(const RunRequest& request)
{
    LaunchPlan out;
    out.plan = request.plan;
    out.target = request.target;
    if (request.steps) {
        if (*request.steps < 1)
            return Problem{ProblemCode::bad_input, "the number of steps must be at least 1", {}, "--steps"};
        out.plan.run.steps = *request.steps;
    }
    if (!out.plan.run.steps && !out.plan.run.tokens)
        return Problem{ProblemCode::bad_input, "run.steps: missing, a run needs `steps` or `tokens`",
            "add it to the plan or use --steps", out.plan.where};
    if (out.plan.run.data.empty())
        return Problem{ProblemCode::bad_input, "run.data: missing, a run needs at least one data file",
            "as in \"data\": [{\"path\": \"corpus/corpus.txt\"}]", out.plan.where};
    if (out.plan.stack.id != "fourfold") {
        out.planned = predict(out.plan);
        out.note = "the plan is of stack " + out.plan.stack.written()
            + "; it runs on Fourfold's own trainer and is predicted again for stack fourfold";
        FOURFOLD_CHECK(hand_to_trainer(out.plan, Presets()));
    }
    if (const auto reasons = check(out.plan); !reasons.empty())
        return problem_of(reasons, out.plan.where);
    if (const auto limits = trainer_limits(out.plan); !limits.empty())
        return problem_of(limits, out.plan.where);
    out.prediction = predict_with_evidence(out.plan);

    const Room here = room_here();
    FOURFOLD_CHECK(check_room(out.target, out.plan, out.prediction, here));
    FOURFOLD_TRY(out.target.backend, backend_of(out.target, out.plan, here));
    const bool on_gpus = out.target.backend == "nccl";
    if (!on_gpus && !out.plan.cluster.gpu.is_cpu())
        out.note += std::string(out.note.empty() ? "" : "; ")
            + "it is planned for GPUs and runs on CPU ranks, as the backend gloo asks: what it measures says nothing "
              "of them";
    FOURFOLD_TRY(const std::vector<int> counts, ranks_of_hosts(out.target, out.plan.gpus));
    int rank = 0;
    for (const int count : counts) {
        std::vector<RankPlace> places;
        for (int local = 0; local < count; ++local, ++rank)
            places.push_back({rank, local, coordinates_json(out.plan.layout, rank)});
        out.ranks.push_back(std::move(places));
    }
    out.environment = out.plan.run.environment;
    FOURFOLD_CHECK(check_environment(out.environment, out.plan.where + ": run.environment"));
    for (const auto& [key, value] : out.target.environment)
        out.environment[key] = value;
    FOURFOLD_CHECK(check_environment(out.environment, out.plan.where + " and target " + out.target.id));

    // Nothing would be trained, and the run would end well.
    if (!request.measures && out.environment.contains(kMeasureVariable))
        return Problem{ProblemCode::bad_input,
            std::string(kMeasureVariable) + " makes ranks measure the nodes instead of training",
            "remove it; `fourfold probe --measure` measures", out.plan.where + " and target " + out.target.id};

    // What the interface and the adapters become, so that it is recorded and compared with the rest.
    if (!out.target.interface.empty()) {
        out.environment.try_emplace("NCCL_SOCKET_IFNAME", out.target.interface);
        out.environment.try_emplace("GLOO_SOCKET_IFNAME", out.target.interface);
    }
    std::string hcas;
    for (const std::string& hca : out.target.hcas)
        hcas += (hcas.empty() ? "" : ",") + hca;
    if (!hcas.empty())
        out.environment.try_emplace("NCCL_IB_HCA", hcas);

    for (const std::string& name : out.target.secrets) {
        if (!std::getenv(name.c_str()))
            return Problem{ProblemCode::bad_input, "the secret " + name + " is not set here",
                "export it before the launch, or take it out of the target's secrets", "target " + out.target.id};
        if (out.environment.contains(name))
            return Problem{ProblemCode::bad_input, name + " is both a secret and a recorded variable",
                "keep it in secrets alone", "target " + out.target.id};
    }

    out.agent = request.agent.empty() ? own_program("fourfold-agent") : request.agent;
    out.trainer = request.trainer.empty() ? own_program(on_gpus ? "fourfold-trainer-cuda" : "fourfold-trainer")
                                          : request.trainer;
    for (const auto& [program, what] : {std::pair(out.agent, "agent"), std::pair(out.trainer, "trainer")}) {
        std::error_code error;
        if (!std::filesystem::is_regular_file(program, error))
            return Problem{ProblemCode::not_found, std::string("the ") + what + " program does not exist",
                program.filename() == "fourfold-trainer-cuda"
                    ? "build it with a CUDA toolkit (guide, chapter 17), or ask for CPU ranks by name (backend gloo)"
                    : "build it (packaging/run.sh does), or set FOURFOLD_TRAINER=ON in CMake",
                program.string()};
    }
    if (out.target.kind == TargetKind::local) {
        FOURFOLD_TRY(out.bundle, local_bundle(out.plan, out.trainer));
    } else {
        FOURFOLD_TRY(out.bundle, portable_bundle(out.plan, out.trainer));
    }
    out.plan = out.bundle.plan;
    return out;
}

} // namespace fourfold
