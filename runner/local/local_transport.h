// SPDX-License-Identifier: GPL-3.0-or-later
// The agent of this computer, started as a child process.
#pragma once

#include "runner/protocol/transport.h"

#include <filesystem>

namespace fourfold {

class LocalTransport : public Transport {
public:
    explicit LocalTransport(std::filesystem::path agent);
    Expected<std::unique_ptr<ByteStream>> open(std::stop_token stop) override;
    [[nodiscard]] std::string host() const override { return "this computer"; }

private:
    std::filesystem::path agent_;
};

} // namespace fourfold
