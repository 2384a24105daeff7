// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/offload/copy_lane.h"

#include "runner/trainer/device/kind.h"

#include <ATen/ops/empty.h>

namespace fourfold::trainer {

CopyLane::CopyLane(const at::Device& device)
    : stream_(device.is_cuda() ? gpu_side_stream() : nullptr)
    , rehearsed_(device.is_meta() && !on_cpu(device) ? std::make_unique<RehearsedCopies>() : nullptr)
{
}

at::Tensor CopyLane::host_room(const at::Tensor& like, at::ScalarType type) const
{
    const OnHost host;
    const at::Device where = like.is_meta() ? like.device() : at::Device(at::kCPU);
    return at::empty({like.numel()}, at::TensorOptions(type).device(where).pinned_memory(bool(stream_)));
}

void CopyLane::follow() const
{
    if (stream_)
        stream_->follow();
}

void CopyLane::copy(const at::Tensor& from, const at::Tensor& to) const
{
    if (rehearsed_)
        rehearsed_->copy(from, to);
    else if (stream_)
        stream_->copy(from, to);
    else
        to.copy_(from);
}

CopyLane::Mark CopyLane::mark() const
{
    if (rehearsed_)
        return std::make_shared<int64_t>(rehearsed_->mark());
    return stream_ ? stream_->mark() : nullptr;
}

void CopyLane::device_waits(const Mark& mark) const
{
    if (rehearsed_ && mark)
        rehearsed_->wait(*std::static_pointer_cast<int64_t>(mark));
    else if (mark)
        stream_->gpu_waits(mark);
}

void CopyLane::host_waits(const Mark& mark) const
{
    if (rehearsed_)
        device_waits(mark);
    else if (mark)
        stream_->host_waits(mark);
    trainer::host_waits();
}

} // namespace fourfold::trainer
