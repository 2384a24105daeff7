// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/device/kind.h"

#include "runner/trainer/rehearsal/rehearsed_device.h"

namespace fourfold::trainer {

bool on_cpu(const at::Device& device)
{
    return device.is_cpu() || (device.is_meta() && rehearsed_device().cpu);
}

} // namespace fourfold::trainer
