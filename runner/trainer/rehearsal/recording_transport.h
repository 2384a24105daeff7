// SPDX-License-Identifier: GPL-3.0-or-later
// A wire that goes nowhere: it writes down what its rank asks of it and when it waits.
#pragma once

#include "core/rehearsal/rank_program.h"
#include "runner/trainer/comm/transport.h"

#include <memory>
#include <string>
#include <vector>

namespace fourfold::trainer {

// `program` gets a wire of this name and must outlive the transport. `members`: global ranks, in the group's order.
std::shared_ptr<Transport> recording_transport(
    RankProgram& program, const std::string& name, std::vector<int> members, int place);

} // namespace fourfold::trainer
