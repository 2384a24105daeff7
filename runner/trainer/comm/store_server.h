// SPDX-License-Identifier: GPL-3.0-or-later
// The store of a job: keys and values that rank 0 keeps for all ranks, and waiting for keys.
#pragma once

#include "runner/net/socket.h"

#include <memory>
#include <string>

namespace fourfold::trainer {

class StoreServer {
public:
    // Serves those that prove `token` (runner/net/proof.h), on a thread of its own until the object ends.
    static Expected<std::unique_ptr<StoreServer>> start(FileDescriptor listener, const std::string& token);
    ~StoreServer();
    StoreServer(const StoreServer&) = delete;
    StoreServer& operator=(const StoreServer&) = delete;

private:
    struct State;
    explicit StoreServer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
