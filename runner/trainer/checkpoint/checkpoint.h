// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints that any mesh can read, whichever mesh wrote them (saver.h): weights under their Hugging Face names.
//
//   FOLDER/step-00000010/config.json                      the model, as Hugging Face writes it
//                        model-00001-of-00002.safetensors whole tensors, one file per rank, with
//                                                          model.safetensors.index.json
//                        optimizer-00001-of-00002.safetensors   pieces of "<name>.exp_avg" and "<name>.exp_avg_sq",
//                                                          of Muon's matrices "<name>.momentum_buffer", as each rank
//                                                          held them, with
//                                                          optimizer.safetensors.index.json (pieces.h)
//                        trainer.json                      steps and updates so far, the loss scale
//                        checksums.json                    of all of these
// The folder of a step appears under its name when all of it is written; until then it is called step-00000010.partial.
// With several nodes FOLDER must be on a file system that they share.
#pragma once

#include "runner/trainer/checkpoint/tensor_source.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/optim/adam.h"
#include "runner/trainer/optim/loss_scaler.h"

#include <filesystem>
#include <functional>

namespace fourfold::trainer {

struct LoadedCheckpoint {
    std::filesystem::path folder; // of it
    int steps = 0; // that it had finished; 0 for a model of Hugging Face's
    std::vector<std::string> notes; // what the user should know; the same on all ranks
};

// Reads `plan.run.checkpoint.load`: the folder of a step, a FOLDER of steps (its newest), or a folder with a model of
// Hugging Face's; the latter has no optimizer state. The ranks check its files together. What is damaged or incomplete
// is a Problem that names the newest older step that is whole; with `from_last_good` that one is read. A tensor that is
// missing or has another shape than the plan's model is a Problem. Call publish() on the weights afterwards.
// Collective.
Expected<LoadedCheckpoint> load_checkpoint(
    const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights, Adam& optimizer, LossScaler& loss_scaler);

// This rank's part of every tensor of the table, or of those that `of` says, with `suffix` behind their names, into
// `buffers` (beside weights.masters()). Call publish() on the weights afterwards.
Expected<void> read_tensors(const TensorSource& tensors, const ModelShape& model, const Weights& weights,
    const std::vector<at::Tensor>& buffers, const std::string& suffix,
    const std::function<bool(const Shard&)>& of = {});

} // namespace fourfold::trainer
