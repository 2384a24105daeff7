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

} // namespace fourfold
