// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/target/room.h"

#include "core/base/json.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

namespace fourfold {

namespace {

constexpr double kProgramGib = 0.06; // of a rank of its own: the trainer with LibTorch beside what all ranks share

// Of states and activations. Mean over the stages: every stage has as many ranks.
double tensors_gib(const Prediction& prediction)
{
    double sum = 0;
    for (const StageMemory& stage : prediction.memory_by_stage)
        sum += stage.total() - stage.other; // buffers of libraries: counted with the program
    return prediction.memory_by_stage.empty() ? 0 : sum / double(prediction.memory_by_stage.size());
}

} // namespace

Room room_here()
{
    constexpr double kKibOfGib = 1024.0 * 1024.0;
    Room room;
    const auto text = read_text_file("/proc/meminfo");
    std::istringstream lines(text ? *text : std::string());
    std::string key, unit;
    for (double kib = 0; lines >> key >> kib; std::getline(lines, unit)) {
        if (key == "MemTotal:" || key == "SwapTotal:")
            room.memory_gib += kib / kKibOfGib;
    }
    std::error_code error;
    room.gpus = std::filesystem::exists("/proc/driver/nvidia/version", error);
    return room;
}

Expected<std::string> backend_of(const Target& target, const ResolvedPlan& plan, const Room& here)
{
    const std::string where = "target " + target.id;
    if (plan.cluster.gpu.is_cpu()) {
        if (target.backend == "nccl")
            return Problem{ProblemCode::bad_input, "the backend nccl needs GPUs, and the plan's cluster has none",
                "leave backend out, or choose a plan on GPUs", where};
        return std::string("gloo");
    }
    if (target.backend == "gloo")
        return target.backend;
    if (target.kind == TargetKind::local && !here.gpus)
        return Problem{ProblemCode::unsupported,
            "the plan is for GPUs (" + plan.cluster.name + "), and this computer has none",
            "choose the cluster this-computer, another target, or CPU ranks by name (backend gloo)", where};
    return std::string("nccl");
}

Expected<void> check_room(
    const Target& target, const ResolvedPlan& plan, const Prediction& prediction, const Room& here)
{
    FOURFOLD_TRY(const std::string backend, backend_of(target, plan, here));
    if (target.kind != TargetKind::local || here.memory_gib <= 0)
        return {};
    const double each = kProgramGib + (backend == "nccl" ? 0 : tensors_gib(prediction));
    if (each * plan.gpus <= here.memory_gib)
        return {};
    const int held = int(std::floor(here.memory_gib / each));
    return Problem{ProblemCode::bad_input,
        text_of("this computer cannot hold the plan: %d ranks of %.3g GiB need %.0f GiB, and it has %.4g GiB",
            plan.gpus, each, each * plan.gpus, here.memory_gib),
        held > 0 ? text_of(
            "it holds %d such rank%s: choose fewer GPUs, a smaller model or another target", held, held == 1 ? "" : "s")
                 : std::string("it holds not one such rank: choose a smaller model or another target"),
        "target " + target.id};
}

} // namespace fourfold
