// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/saver.h"

#include "core/base/seconds.h"
#include "runner/trainer/checkpoint/names.h"

namespace fourfold::trainer {

CheckpointSaver::CheckpointSaver(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights,
    const Adam& optimizer, const LossScaler& loss_scaler, std::filesystem::path folder, int from,
    std::shared_ptr<StoreClient> line, std::function<void(const SaveOutcome&)> told)
    : plan_(plan)
    , optimizer_(optimizer)
    , loss_scaler_(loss_scaler)
    , folder_(std::move(folder))
    , from_(from)
    , share_(plan, mesh, weights, optimizer)
    , writer_(mesh[GroupKind::world].rank(), mesh[GroupKind::world].size(), std::move(line), std::move(told),
          [this] { share_.make_room(); })
{
}

double CheckpointSaver::save(int steps)
{
    const auto asked = std::chrono::steady_clock::now();
    (void)writer_.wait(); // what became of it was told
    const double waited = seconds_since(asked);
    SaveRequest request;
    request.folder = folder_;
    request.steps = steps;
    request.keep = plan_.run.checkpoint.keep;
    request.own = [from = from_, saved = saved_](int step) { return step <= from || saved.contains(step); };
    saved_.insert(steps);
    const LossScaler::State scale = loss_scaler_.state();
    request.state = {{"fourfold_checkpoint", kCheckpointVersion}, {"step", steps}, {"updates", optimizer_.updates()},
        {"seed", plan_.run.seed}, {"plan_hash", plan_hash(plan_)}, {"loss_scale", scale.scale},
        {"loss_scale_steps", scale.steady}};
    request.config = config_from_model(plan_.model);
    RankShare::Files files = share_.copy();
    request.weights = std::move(files.weights);
    request.states = std::move(files.states);
    request.pieces = std::move(files.pieces);
    request.stopped_s = seconds_since(request.begin);
    writer_.start(std::move(request));
    return waited;
}

Expected<void> CheckpointSaver::finish()
{
    const auto last = writer_.wait();
    if (!last || !last->problem)
        return {};
    if (last->own)
        return *last->problem;
    return Problem{
        ProblemCode::cancelled, "another rank could not write the checkpoint", "see its error", last->folder.string()};
}

} // namespace fourfold::trainer
