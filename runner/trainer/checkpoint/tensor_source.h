// SPDX-License-Identifier: GPL-3.0-or-later
// Where the values of a checkpoint's tensors come from, however they are stored.
#pragma once

#include "runner/trainer/checkpoint/safetensors.h"
#include "runner/trainer/model/shard.h"

namespace fourfold::trainer {

// Not thread-safe: readers remember what they read last.
class TensorSource {
public:
    virtual ~TensorSource() = default;
    // The elements [begin, end) of this rank's shard of a parameter, row-major; rows of vocabulary padding are zero. A
    // tensor that is missing, or has another shape than the model's, is a Problem. Precondition: 0 <= begin <= end <=
    // shard.elements().
    [[nodiscard]] virtual Expected<std::vector<double>> read(
        const ModelShape& model, const Shard& shard, const std::string& suffix, int64_t begin, int64_t end) const = 0;
};

} // namespace fourfold::trainer
