// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever arrives on the wire: frames in pieces, chunks, requests and specs, the agent's findings.
#include "runner/protocol/chunk.h"
#include "runner/protocol/frame.h"
#include "runner/protocol/message.h"
#include "runner/protocol/run_spec.h"
#include "runner/protocol/straggler.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void read_message(const std::string& payload)
{
    using namespace fourfold;
    const auto json = parse_json(payload, "fuzz");
    if (!json)
        return;
    (void)problem_from_reply(*json, "host");
    (void)name_straggler(array_field(*json, "ranks"));
    if (const auto spec = run_spec_from_json(object_field(*json, "spec"))) {
        // What was accepted must survive its own writing.
        const auto again = run_spec_from_json(to_json(*spec));
        if (!again || to_wire(to_json(*again)) != to_wire(to_json(*spec)))
            std::abort();
    }
    (void)to_wire(*json);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fourfold;
    if (size < 1)
        return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    // The same stream in one piece and in pieces of a size that the first byte says gives the same frames.
    FrameParser whole, pieces;
    whole.feed(bytes);
    const std::size_t step = data[0] % 64 + 1;
    std::size_t fed = 0;
    for (;;) {
        auto expected = whole.next();
        Expected<std::optional<Frame>> got = pieces.next();
        while (got && !*got && fed < bytes.size()) {
            pieces.feed(bytes.substr(fed, step));
            fed += step;
            got = pieces.next();
        }
        if (expected.has_value() != got.has_value() || (expected && expected->has_value() != got->has_value()))
            std::abort();
        if (!expected || !*expected)
            break;
        if ((*expected)->payload != (*got)->payload || (*expected)->payload.size() > kMaxFrameBytes)
            std::abort();
        if ((*expected)->kind == FrameKind::json)
            read_message((*expected)->payload);
        else if (const auto chunk = expand_chunk((*expected)->payload);
                 chunk && (chunk->size() > kChunkBytes || chunk->size() != raw_size((*expected)->payload)))
            std::abort();
    }
    return 0;
}
