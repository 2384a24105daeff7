// SPDX-License-Identifier: GPL-3.0-or-later
// How a text or a meter is meant.
#pragma once

namespace fourfold::view {

enum class Tone { neutral, good, warning, bad };

} // namespace fourfold::view
