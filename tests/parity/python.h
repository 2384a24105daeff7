// SPDX-License-Identifier: GPL-3.0-or-later
// Python as an oracle: PyTorch of the pinned LibTorch, and what packaging/test.sh fetched for tests.
#pragma once

#include <string>

namespace fourfold::testing {

// How a shell's line begins that runs a Python of the wheels' version which has `module` ("PYTHONPATH=... python3 ");
// empty where this computer has none. PyTorch is always said to be there: the test will fail and say what is missing.
std::string python_with(const std::string& module);

} // namespace fourfold::testing
