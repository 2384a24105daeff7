// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/key_value_cache.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace fourfold::trainer {

namespace {
// `part` behind the first `length` rows of `room`, which is moved to one of twice its size where it is full.
at::Tensor appended(at::Tensor& room, int64_t length, const at::Tensor& part)
{
    const int64_t end = length + part.size(0);
    if (!room.defined() || room.size(0) < end) {
        auto shape = part.sizes().vec();
        shape[0] = room.defined() ? std::max(end, 2 * room.size(0)) : end;
        const at::Tensor wider = at::empty(shape, part.options());
        if (length > 0)
            wider.narrow(0, 0, length).copy_(room.narrow(0, 0, length));
        room = wider;
    }
    room.narrow(0, length, part.size(0)).copy_(part);
    return room.narrow(0, 0, end);
}
} // namespace

KeyValueCache::Seen KeyValueCache::extended(int layer, const at::Tensor& key, const at::Tensor& value)
{
    Seen& room = rooms_[layer];
    return {appended(room.key, length_, key), appended(room.value, length_, value)};
}

} // namespace fourfold::trainer
