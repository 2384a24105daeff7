// SPDX-License-Identifier: GPL-3.0-or-later
// File and tensor names of a checkpoint.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace fourfold::trainer {

// Of the optimizer's states, as PyTorch's Adam and Muon call them.
inline constexpr char kFirstMoment[] = ".exp_avg", kSecondMoment[] = ".exp_avg_sq", kMomentum[] = ".momentum_buffer";

inline constexpr char kStateFile[] = "trainer.json"; // steps and updates so far
// Of its contents: 1 had no checksums and no index of the optimizer's files, 2 whole tensors of the optimizer's states.
inline constexpr int kCheckpointVersion = 3;
inline constexpr std::size_t kMostIndexBytes = std::size_t(2) << 30;

std::string step_name(int steps); // "step-00000010"
// The step of a folder of that name; nothing for any other.
std::optional<int> step_of(const std::filesystem::path& folder);
// The folders of steps in a folder, by step.
std::map<int, std::filesystem::path> step_folders(const std::filesystem::path& folder);
std::string index_name(const std::string& kind); // "model.safetensors.index.json"
// "model-00001-of-00002.safetensors" for part 0 of 2.
std::string part_file(const std::string& kind, int part, int parts);
// Of a file within its folder.
bool is_plain_name(const std::string& file);

} // namespace fourfold::trainer
