// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/offload/copy_lane.h"

#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/ops/empty.h>

namespace fourfold::trainer {

CopyLane::CopyLane(const at::Device& device)
    : stream_(device.is_cuda() ? gpu_side_stream() : nullptr)
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
    if (from.is_meta())
        copied_with_host(from, to);
    else if (stream_)
        stream_->copy(from, to);
    else
        to.copy_(from);
}

CopyLane::Mark CopyLane::mark() const
{
    return stream_ ? stream_->mark() : nullptr;
}

void CopyLane::device_waits(const Mark& mark) const
{
    if (mark)
        stream_->gpu_waits(mark);
}

void CopyLane::host_waits(const Mark& mark) const
{
    if (mark)
        stream_->host_waits(mark);
    trainer::host_waits();
}

} // namespace fourfold::trainer
