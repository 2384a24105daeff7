// SPDX-License-Identifier: GPL-3.0-or-later
// A wire that goes nowhere: it writes down what its rank asks of it and when it waits.
#pragma once

#include "core/rehearsal/ledger.h"
#include "core/rehearsal/rehearsal_prices.h"
#include "runner/trainer/comm/transport.h"

#include <memory>
#include <string>
#include <vector>

namespace fourfold::trainer {

// The ledger's program gets a wire of this name; ledger and prices must outlive the transport. `members`: global ranks,
// in the group's order. Tensors live until their operation is waited for, as under NCCL.
std::shared_ptr<Transport> recording_transport(
    Ledger& ledger, const RehearsalPrices& prices, const std::string& name, std::vector<int> members, int place);

} // namespace fourfold::trainer
