// SPDX-License-Identifier: GPL-3.0-or-later
// The job's store as c10d's backends want it.
#pragma once

#include "runner/trainer/comm/store_client.h"

#include <memory>

namespace c10d {
class Store;
}

namespace fourfold::trainer {

// Throws c10::DistStoreError when a key does not come within `limit_s`, c10::DistNetworkError when rank 0 is gone. Null
// of a job of one rank, which has no client.
std::shared_ptr<c10d::Store> make_c10d_store(std::shared_ptr<StoreClient> client, double limit_s);

} // namespace fourfold::trainer
