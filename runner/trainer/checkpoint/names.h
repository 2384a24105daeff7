// SPDX-License-Identifier: GPL-3.0-or-later
// File and tensor names of a checkpoint.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace fourfold::trainer {

inline constexpr char kFirstMoment[] = ".exp_avg", kSecondMoment[] = ".exp_avg_sq";

inline constexpr char kStateFile[] = "trainer.json"; // steps and updates so far
inline constexpr int kCheckpointVersion
    = 2; // of its contents; 1 had no checksums and no index of the optimizer's files

std::string step_name(int steps); // "step-00000010"
// The step of a folder of that name; nothing for any other.
std::optional<int> step_of(const std::filesystem::path& folder);
// The folders of steps in a folder, by step.
std::map<int, std::filesystem::path> step_folders(const std::filesystem::path& folder);
std::string index_name(const std::string& kind); // "model.safetensors.index.json"
// "model-00001-of-00002.safetensors" for stage 0 of 2.
std::string stage_file(const std::string& kind, int stage, int stages);
// The name of an expert's tensor, for another expert.
std::string name_of_expert(const Parameter& parameter, int expert);

} // namespace fourfold::trainer
