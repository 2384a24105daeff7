// SPDX-License-Identifier: GPL-3.0-or-later
// Where the tensors of a CPU rank lie.
#pragma once

namespace fourfold::trainer {

// From here on large tensors come from a pool of blocks (device/block_pool.h) of huge pages. Once in a process. Where
// the system gives no address space for it, or a sanitizer watches the C library's blocks, all stays as it is.
void pool_tensor_memory();
// Call it once a step: what no tensor lay in since the last call goes back to the system.
void release_unused_tensor_memory();

} // namespace fourfold::trainer
