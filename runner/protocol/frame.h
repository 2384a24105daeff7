// SPDX-License-Identifier: GPL-3.0-or-later
// Frames on the wire between client and agent: one byte of kind, four bytes of length (little-endian), the payload.
// Both ends treat the other as hostile: a length over the bound or an unknown kind ends the conversation.
#pragma once

#include "core/base/expected.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fourfold {

enum class FrameKind : unsigned char { json = 'J', data = 'D' };

struct Frame {
    FrameKind kind = FrameKind::json;
    std::string payload;
};

inline constexpr std::size_t kFrameHeaderBytes = 5;
inline constexpr std::size_t kMaxFrameBytes = 4u << 20;

// Precondition: payload.size() <= kMaxFrameBytes.
std::string encode_frame(FrameKind kind, std::string_view payload);

// Cuts a byte stream into frames. After a Problem the stream is out of step and the parser stays failed.
class FrameParser {
public:
    void feed(std::string_view bytes);
    // The next whole frame, nothing when more bytes are needed, or what is wrong with the stream.
    Expected<std::optional<Frame>> next();
    [[nodiscard]] bool in_frame() const { return buffer_.size() > begin_; }

private:
    std::string buffer_;
    std::size_t begin_ = 0;
    bool failed_ = false;
};

} // namespace fourfold
