// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/frame.h"

namespace fourfold {

std::string encode_frame(FrameKind kind, std::string_view payload)
{
    assert(payload.size() <= kMaxFrameBytes);
    std::string out;
    out.reserve(kFrameHeaderBytes + payload.size());
    out += static_cast<char>(kind);
    for (int shift = 0; shift < 32; shift += 8)
        out += static_cast<char>((payload.size() >> shift) & 0xff);
    out += payload;
    return out;
}

void FrameParser::feed(std::string_view bytes)
{
    if (begin_ > 0 && begin_ == buffer_.size()) {
        buffer_.clear();
        begin_ = 0;
    } else if (begin_ > (1u << 20)) {
        buffer_.erase(0, begin_);
        begin_ = 0;
    }
    buffer_ += bytes;
}

Expected<std::optional<Frame>> FrameParser::next()
{
    const auto broken = [this](std::string message) -> Problem {
        failed_ = true;
        return {ProblemCode::network, std::move(message), "the other end is not a Fourfold agent of this version", {}};
    };
    if (failed_)
        return broken("the stream of frames is out of step");
    const std::string_view rest = std::string_view(buffer_).substr(begin_);
    if (rest.empty())
        return std::optional<Frame>{};
    const auto kind = static_cast<FrameKind>(rest[0]);
    if (kind != FrameKind::json && kind != FrameKind::data)
        return broken(
            "a frame begins with byte " + std::to_string(static_cast<unsigned char>(rest[0])) + ", expected J or D");
    if (rest.size() < kFrameHeaderBytes)
        return std::optional<Frame>{};
    std::size_t length = 0;
    for (int i = 3; i >= 0; --i)
        length = (length << 8) | static_cast<unsigned char>(rest[1 + static_cast<std::size_t>(i)]);
    if (length > kMaxFrameBytes)
        return broken("a frame claims " + std::to_string(length) + " bytes, at most " + std::to_string(kMaxFrameBytes)
            + " are allowed");
    if (rest.size() < kFrameHeaderBytes + length)
        return std::optional<Frame>{};
    Frame frame{kind, std::string(rest.substr(kFrameHeaderBytes, length))};
    begin_ += kFrameHeaderBytes + length;
    return std::optional<Frame>(std::move(frame));
}

} // namespace fourfold
