// SPDX-License-Identifier: GPL-3.0-or-later
// SHA-256 as lower-case hex.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace fourfold {

std::string sha256_hex(std::string_view bytes);

// Of bytes that come one after the other.
class Sha256 {
public:
    Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    ~Sha256();
    void add(std::string_view bytes);
    // Of all that was added so far; more may follow.
    [[nodiscard]] std::string hex() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Of a file's content, read in blocks.
Expected<std::string> sha256_file(const std::filesystem::path& file);
// Of all that an open file holds, wherever its offset stands; `name` is for messages.
Expected<std::string> sha256_descriptor(int fd, const std::filesystem::path& name);

} // namespace fourfold
