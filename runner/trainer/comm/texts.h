// SPDX-License-Identifier: GPL-3.0-or-later
// Short texts between the ranks of a group.
#pragma once

#include "runner/trainer/comm/communicator.h"

#include <string>
#include <vector>

namespace fourfold::trainer {

// What each rank says, in the order of the ranks. `device` is that of the group's tensors. Collective.
std::vector<std::string> all_texts(const Communicator& group, const std::string& own, at::Device device);

} // namespace fourfold::trainer
