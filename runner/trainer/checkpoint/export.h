// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint of any mesh as a model folder that Hugging Face's transformers loads: config.json,
// generation_config.json, model.safetensors (or shards with an index) and the tokenizer's files.
#pragma once

#include "core/base/expected.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::trainer {

struct ExportRequest {
    std::filesystem::path checkpoint; // as run.checkpoint.load
    std::filesystem::path output; // must not exist, or be empty (export_folder.h)
    // A tokenizer.json or the folder that holds one; empty: beside the checkpoint's weights, where there is one.
    std::filesystem::path tokenizer;
    std::string dtype = "F32"; // or "BF16", rounded to nearest even
    int64_t shard_bytes = 5'000'000'000; // no file of weights is larger, unless one tensor is
};

struct Exported {
    std::vector<std::string> files; // in the order of their names
    int64_t parameters = 0, bytes = 0; // bytes: of the weights
    std::vector<std::string> notes; // what the user should know
};

// The folder appears under its name when all of it is written. Problems: a checkpoint that is damaged or of another
// model than its config.json says, weights that are not finite, a tokenizer with more tokens than the model.
Expected<Exported> export_model(const ExportRequest& request);

} // namespace fourfold::trainer
