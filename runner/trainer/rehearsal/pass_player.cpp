// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/pass_player.h"

#include <ATen/ops/empty.h>
#include <c10/core/Storage.h>

namespace fourfold::trainer {

namespace {
// Forwards of a chunk that are computed in every step, however well they are known.
constexpr int kComputed = 2;

uint64_t address_of(const at::Tensor& tensor)
{
    return tensor.defined() ? reinterpret_cast<uint64_t>(tensor.storage().data_ptr().get()) : 0;
}
} // namespace

Expected<at::Tensor> PassPlayer::operator()(const Action& action, const Compute& compute)
{
    const std::pair key{action.kind, action.chunk};
    const auto known = known_.find(key);
    const bool stable = known != known_.end() && known->second.stable;
    if (fold_ && action.kind == ActionKind::forward && forwards_[action.chunk]++ >= kComputed && stable)
        folded_.emplace(action.chunk, action.micro_batch);
    const bool plays = folded_.contains({action.chunk, action.micro_batch});
    if (plays && !stable) {
        gave_up_ = true;
        return Problem{ProblemCode::failed, "passes that were taken to be alike are not", "", "rehearsal"};
    }
    ledger_.begin_pass(action);
    Expected<at::Tensor> result = plays ? Expected<at::Tensor>(play(known->second)) : compute_and_keep(action, compute);
    ledger_.end_pass();
    ++(plays ? played_ : computed_);
    return result;
}

Expected<at::Tensor> PassPlayer::compute_and_keep(const Action& action, const Compute& compute)
{
    ledger_.record();
    FOURFOLD_TRY(const at::Tensor result, compute());
    Known kept{ledger_.recorded(address_of(result)), false, {}, {}, 0, 0, {}};
    const double beyond_s = host_.beyond(action, kept.tape.work_s());
    kept.tape.after.seconds += beyond_s;
    ledger_.compute({.seconds = beyond_s});
    Known& known = known_[{action.kind, action.chunk}];
    kept.stable = kept.tape.repeats && kept.tape.same(known.tape);
    if (result.defined()) {
        kept.sizes = result.sizes().vec();
        kept.strides = result.strides().vec();
        kept.offset = result.storage_offset();
        kept.storage_bytes = result.storage().nbytes();
        kept.options = result.options().requires_grad(false);
    }
    known = std::move(kept);
    return result;
}

at::Tensor PassPlayer::play(const Known& known)
{
    const uint64_t address = ledger_.play(known.tape);
    if (address == 0)
        return {};
    at::Tensor result = at::empty({0}, known.options);
    c10::Allocator* const allocator = c10::GetAllocator(c10::DeviceType::Meta);
    auto* const memory = reinterpret_cast<void*>(address);
    c10::Storage storage(c10::Storage::use_byte_size_t(), known.storage_bytes,
        c10::DataPtr(memory, memory, allocator->raw_deleter(), known.options.device()), allocator, /*resizable=*/false);
    result.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(storage));
    result.unsafeGetTensorImpl()->set_sizes_and_strides(known.sizes, known.strides, known.offset);
    return result;
}

void PassPlayer::end_step()
{
    forwards_.clear();
    folded_.clear();
    ledger_.end_step();
}

} // namespace fourfold::trainer
