// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace fourfold::trainer {

// From here on, in this process: what autograd saves while a layer runs that is offloaded
// (offload/activation_offload.h), of LibTorch's operations as of our own, it saves as a KeptTensor.
void keep_saved_tensors_as_kept();

} // namespace fourfold::trainer
