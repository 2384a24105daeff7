// SPDX-License-Identifier: GPL-3.0-or-later
// Copies between the device that computes and the host's memory, one way. On a GPU they run on a stream of their own,
// from and to pinned memory; ranks without one copy at once, within the host's memory; a rehearsal counts them and
// takes their time.
#pragma once

#include "runner/trainer/device/side_stream.h"
#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/core/Tensor.h>

namespace fourfold::trainer {

class CopyLane {
public:
    using Mark = SideStream::Mark;

    explicit CopyLane(const at::Device& device);

    // Memory of the host for as many elements as `like` has on the device, one after the other.
    [[nodiscard]] at::Tensor host_room(const at::Tensor& like, at::ScalarType type) const;

    // One after the other: follow(), copies, mark(). What is copied must live, and not change, until somebody waited
    // for the mark.
    void follow() const; // what the device computes so far comes before the copies
    void copy(const at::Tensor& from, const at::Tensor& to) const; // one of the two is host_room()
    [[nodiscard]] Mark mark() const;
    // What the device computes from here on comes after the copies up to `mark`.
    void device_waits(const Mark& mark) const;
    // Returns when the copies up to `mark` are through.
    void host_waits(const Mark& mark) const;

private:
    std::unique_ptr<SideStream> stream_; // null: copies are made at once
    std::unique_ptr<RehearsedCopies> rehearsed_; // null: they are made
};

} // namespace fourfold::trainer
