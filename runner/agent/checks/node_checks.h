// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in the way of a run on this node, each finding with its evidence and a cure.
#pragma once

#include "core/base/json.h"
#include "runner/protocol/run_spec.h"

#include <filesystem>
#include <string>

namespace fourfold {

// A list of {"check", "level" ("error": a run cannot work here; "warning"; "info"), "message", "evidence", "cure"}.
// `base` is Fourfold's folder, `ranks` how many will run here, `on_gpus` whether each needs a GPU.
Json node_checks(const std::filesystem::path& base, int ranks, bool on_gpus);

// One finding; empty texts are left out by readers.
Json finding(const std::string& check, const std::string& level, const std::string& message,
    const std::string& evidence = {}, const std::string& cure = {});
// What a finding of `host` says to one who stops because of it.
Problem problem_of(const Json& finding, ProblemCode code, const std::string& host);

// Findings about GPUs, out of what nvidia-smi prints (gpu_checks.cpp). `gpus` and `processes` are its CSV output for
// kGpuQuery and kProcessQuery.
inline constexpr const char* kGpuQuery = "index,name,memory.total,memory.free,ecc.errors.uncorrected.volatile.total,"
                                         "clocks_throttle_reasons.active,mig.mode.current,temperature.gpu";
inline constexpr const char* kProcessQuery = "pid,used_memory,name";
Json gpu_findings(const std::string& gpus, const std::string& processes, int ranks);
Json gpu_checks(int ranks);

} // namespace fourfold
