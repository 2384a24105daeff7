// SPDX-License-Identifier: GPL-3.0-or-later
// What this computer is, for the record of a run.
#pragma once

#include "core/base/json.h"

#include <string>

namespace fourfold::trainer {

std::string host_name();
std::string kernel_release(); // "Linux 6.1.0"
std::string compiler_version(); // of this program: "g++ 12.2.0"
int usable_cores(); // that this process may run on

// {"cpu", "cores", "memory_gib", "cpu_clock_mhz" (highest, null where the kernel does not tell)}
Json cpu_facts();
// Largest resident memory of this process so far, in GiB.
double resident_peak_gib();

} // namespace fourfold::trainer
