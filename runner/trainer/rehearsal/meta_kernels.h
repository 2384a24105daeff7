// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace fourfold::trainer {

// The operators on device `meta` register themselves as the program begins. Who needs them calls this: a linker leaves
// out of a library the file that nobody calls.
void need_meta_kernels();

} // namespace fourfold::trainer
