// SPDX-License-Identifier: GPL-3.0-or-later
// How a stack spreads the model's layers over pipeline stages when the plan does not say.
#pragma once

#include "core/model/model_shape.h"
#include "core/schedule/schedules.h"
#include "core/stack/stack.h"

#include <vector>

namespace fourfold {

// layers / chunks each, the remainder one by one to the first chunks (StageSplit::even). StageSplit::equal is the same
// where chunks divide the layers, else stage_layers_with_ends() where that is equal.
std::vector<int> even_stage_layers(int layers, int chunks);

// Megatron-LM's and NeMo's account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split, where layers
// alone do not split equally but layers + 2 do: embedding and loss count as a layer each, so that the first and the
// last chunk hold one layer less, if need be none. Llama 3's 126 layers on 128 chunks (arXiv:2407.21783,
// section 3.3.2).
std::vector<int> stage_layers_with_ends(int layers, int chunks);

// torchtitan, December 2024 (StageSplit::middle): the remainder goes one by one to the chunks after the first, which
// holds the embedding; what is then left to the last, which holds the head.
std::vector<int> middle_stage_layers(int layers, int chunks);

// nanotron's cost-based split (StageSplit::cost): a decoder block costs 4 h^2 + 3 h ffn, the LM head V h, embedding and
// loss nothing; blocks are placed in order and a stage closes once the running sum reaches its share of the total. A
// 16-layer model with a large vocabulary gives 10 + 6 layers on two stages, and stages without any block are possible.
std::vector<int> cost_based_stage_layers(const ModelShape& model, int chunks);

// Stages of that split that hold a block at all: behind the last layer come final norm, LM head, conversion of the
// logits and loss, which may fill stages of their own. Jobs with a stage beyond crash.
int cost_based_stages(const ModelShape& model, int chunks);

// Whether modules that predict further ahead, and the head, may be all that the last chunk holds: in Megatron Core
// they may (Megatron-Bridge v0.3.0, DeepSeek-V3 on H100: "Et|(tt|)*30mL"); the bundled trainer, which its constants
// tell, wants a layer there.
bool last_chunk_may_hold_modules_alone(const ModelShape& model, const Stack& stack);

// The rule of the stack. `schedule` says which chunks lie on one stage, which matters where modules that predict
// further ahead weigh on the last of them.
std::vector<int> default_stage_layers(
    const ModelShape& model, const Stack& stack, int pp, int virtual_stages, Schedule schedule);

} // namespace fourfold
