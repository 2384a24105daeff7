// SPDX-License-Identifier: GPL-3.0-or-later
// The three questions of a start, as people answer them: which model, which GPUs, how much training.
#pragma once

#include "core/base/json.h"
#include "core/plan/presets.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

// How much to train: a number of tokens, or as much as fits into a time. Neither: 20 tokens per parameter
// (chinchilla_tokens()).
struct TrainingExtent {
    double tokens = 0, days = 0;
};

// "15T", "2e12 tokens", "300 B tokens", "30 days", "12 hours", "2 weeks"; an empty text is neither.
Expected<TrainingExtent> parse_extent(const std::string& text, const std::string& where);
// "15 T tokens" or "30 days"; "" where it is neither.
std::string extent_text(const TrainingExtent& extent);

// Ids of a kind of presets ("models", "clusters") that a text may mean: the id or name itself, else all whose id and
// name together hold every word of it, whatever its case and signs. "llama 405b" means llama-3.1-405b.
std::vector<std::string> presets_meant(const std::string& kind, const std::string& text, const Presets& presets);

// What a plan's `model` is for a name: a preset's id (also by presets_meant()), a config.json or a folder with one, a
// model of the Hugging Face Hub that is in the cache of this computer.
Expected<Json> model_named(const std::string& text, const Presets& presets);
// The file that model_named() reads; empty: a preset.
Expected<std::filesystem::path> model_file(const std::string& text, const Presets& presets);
// What a plan's `cluster` is: a preset's id (also by presets_meant()).
Expected<Json> cluster_named(const std::string& text, const Presets& presets);

} // namespace fourfold
