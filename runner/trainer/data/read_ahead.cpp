// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data/read_ahead.h"

namespace fourfold::trainer {

Expected<at::Tensor> ReadAhead::take(Key key, const Read& read)
{
    const auto found = asked_.find(key);
    if (found == asked_.end())
        return read();
    const Asked asked = std::move(found->second);
    asked_.erase(found);
    asked.pending->wait();
    return std::move(**asked.result);
}

void ReadAhead::ask(Key key, Read read)
{
    constexpr std::size_t kKept = 2;
    if (asked_.contains(key))
        return;
    while (asked_.size() >= kKept) {
        asked_.begin()->second.pending->wait();
        asked_.erase(asked_.begin());
    }
    auto result = std::make_shared<std::optional<Expected<at::Tensor>>>();
    auto pending = worker_.run([result, read = std::move(read)] { result->emplace(read()); });
    asked_.emplace(key, Asked{std::move(result), std::move(pending)});
}

} // namespace fourfold::trainer
