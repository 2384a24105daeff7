// SPDX-License-Identifier: GPL-3.0-or-later
// Reads micro-batches on a thread of its own while the one before is computed.
#pragma once

#include "core/base/expected.h"
#include "runner/trainer/comm/worker.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>

namespace fourfold::trainer {

class ReadAhead {
public:
    using Key = std::pair<int64_t, int>; // a global batch's first sample, and the micro-batch
    using Read = std::function<Expected<at::Tensor>()>;

    // What was asked for under this key, once it is there; otherwise reads now.
    Expected<at::Tensor> take(Key key, const Read& read);
    // Begins to read, unless it did before. Of what nobody takes only the last few are kept.
    void ask(Key key, Read read);

private:
    struct Asked {
        std::shared_ptr<std::optional<Expected<at::Tensor>>> result;
        std::unique_ptr<Pending> pending;
    };
    std::map<Key, Asked> asked_;
    Worker worker_;
};

} // namespace fourfold::trainer
