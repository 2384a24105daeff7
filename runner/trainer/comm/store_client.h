// SPDX-License-Identifier: GPL-3.0-or-later
// A rank's connection to the store of its job (store_server.h). May be used by several threads; a call waits for those
// before it.
#pragma once

#include "runner/net/socket.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold::trainer {

struct StorePlace {
    std::string address; // numeric
    int port = 0;
    std::string token;
};

class StoreClient {
public:
    // Tries until `patience` is over to reach the store and to prove the token. Later an answer may take so long too,
    // beyond what a call is told to wait: then, and when rank 0 is gone, that call and all later ones fail with
    // network.
    static Expected<std::shared_ptr<StoreClient>> connect(const StorePlace& place, std::chrono::milliseconds patience);
    // A second connection to the same store.
    [[nodiscard]] Expected<std::shared_ptr<StoreClient>> again() const { return connect(place_, patience_); }

    Expected<void> set(const std::string& key, std::string_view value);
    Expected<void> append(const std::string& key, std::string_view value);
    // Returns the sum.
    Expected<std::int64_t> add(const std::string& key, std::int64_t count);
    // Sets `key` to `wanted` where it is `expected`, or where both are nothing; returns what it is then.
    Expected<std::string> compare_set(const std::string& key, std::string_view expected, std::string_view wanted);
    Expected<bool> erase(const std::string& key);
    Expected<std::int64_t> count();
    // Waits until all keys are there: the positions of those that are not when the time is up.
    Expected<std::vector<std::size_t>> missing(
        const std::vector<std::string>& keys, std::chrono::milliseconds limit = std::chrono::milliseconds(0));
    // Waits for all; fails with not_found, and names those that are not there when the time is up.
    Expected<std::vector<std::string>> get(const std::vector<std::string>& keys, std::chrono::milliseconds limit);
    Expected<std::string> get(const std::string& key, std::chrono::milliseconds limit);

private:
    StoreClient(StorePlace place, std::chrono::milliseconds patience, FileDescriptor fd);
    Expected<std::string> ask(std::string message, std::chrono::milliseconds limit = std::chrono::milliseconds(0));
    Expected<std::string> fetch(const std::vector<std::string>& keys, std::chrono::milliseconds limit, bool values);

    StorePlace place_;
    std::chrono::milliseconds patience_;
    std::mutex mutex_;
    FileDescriptor fd_; // closed after any trouble
};

} // namespace fourfold::trainer
