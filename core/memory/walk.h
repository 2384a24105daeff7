// SPDX-License-Identifier: GPL-3.0-or-later
// The walk along a stage's actions with what its micro-batches hold: peaks, curves, explanations and searches all see
// it through here, in bytes of each MemoryKind or in their sum.
#pragma once

#include "core/program/operation.h"
#include "core/schedule/actions.h"

#include <array>
#include <cstddef>
#include <span>

namespace fourfold {

using KindBytes = std::array<double, kMemoryKinds>; // by MemoryKind

inline void add_bytes(KindBytes& to, const KindBytes& what, double times)
{
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] += what[i] * times;
}
inline void add_bytes(double& to, double what, double times)
{
    to += what * times;
}
// Something else is held from here on.
inline void replace_bytes(KindBytes& in, const KindBytes& what, const KindBytes& by)
{
    add_bytes(in, what, -1);
    add_bytes(in, by, 1);
}
inline void replace_bytes(double& in, double what, double by)
{
    in += by - what;
}

// When a stage holds what it holds. `between`: after a pass, when its workspace is gone.
enum class Instant { forward, loss, backward, between, update };

// `chunk_of`(number) gives a pointer to what a micro-batch of that chunk has: kept from its forward until its backward,
// kept_for_weights from there to the weight gradient, where a schedule parts them, and more while a pass runs:
// in_forward, in_backward, and, where it has the member, in_loss, with which a backward begins. Null: not of this
// stage. Calls during(index, instant, alive, extra) while each action runs, with what is held and what its pass adds;
// moved(chunk, whole, waiting) by how many more micro-batches are held whole, and wait for their weight gradient; and
// after(index, alive) when it has ended. Of what lives as long as a micro-batch, `alive` has that of a forward while it
// runs. Gives what is held in the end.
template <typename Bytes, typename ChunkOf, typename During, typename Moved, typename After>
Bytes walk_actions(
    std::span<const Action> actions, Bytes alive, ChunkOf&& chunk_of, During&& during, Moved&& moved, After&& after)
{
    for (std::size_t index = 0; index < actions.size(); ++index) {
        const Action& action = actions[index];
        auto* const chunk = chunk_of(action.chunk);
        if (chunk == nullptr)
            continue;
        switch (action.kind) {
        case ActionKind::forward:
            add_bytes(alive, chunk->kept, 1);
            moved(*chunk, 1, 0);
            during(index, Instant::forward, alive, chunk->in_forward);
            break;
        case ActionKind::backward:
        case ActionKind::input_gradient:
            if constexpr (requires { chunk->in_loss; })
                during(index, Instant::loss, alive, chunk->in_loss);
            during(index, Instant::backward, alive, chunk->in_backward);
            if (action.kind == ActionKind::input_gradient) {
                replace_bytes(alive, chunk->kept, chunk->kept_for_weights);
                moved(*chunk, -1, 1);
            } else {
                add_bytes(alive, chunk->kept, -1);
                moved(*chunk, -1, 0);
            }
            break;
        case ActionKind::weight_gradient:
            during(index, Instant::backward, alive, Bytes{});
            add_bytes(alive, chunk->kept_for_weights, -1);
            moved(*chunk, 0, -1);
            break;
        }
        after(index, alive);
    }
    return alive;
}

} // namespace fourfold
