// SPDX-License-Identifier: GPL-3.0-or-later
// Standard output of a system program, within a time limit.
#pragma once

#include <string>
#include <vector>

namespace fourfold {

// `argv` without the closing null; argv[0] is an absolute path. What it printed (64 KiB at most; with `errors` on
// standard error too) until it ended or `seconds` had passed.
std::string output_of(std::vector<const char*> argv, double seconds, bool errors = false);
// Its absolute path at one of fixed places; empty where there is no NVIDIA driver.
std::string nvidia_smi();
// What nvidia-smi says to that, within ten seconds; empty where there is none. One that hangs, as it does where a GPU
// is lost, is not asked again by this process.
std::string ask_nvidia_smi(std::vector<const char*> arguments);

} // namespace fourfold
