// SPDX-License-Identifier: GPL-3.0-or-later
// The heads of array files that hold token ids.
#pragma once

#include "core/dataset/token_layout.h"

namespace fourfold {

// NumPy's format, versions 1 to 3 (numpy/lib/format.py): "\x93NUMPY", version, length of the head, then a Python
// dictionary with descr, fortran_order and shape. One or two dimensions of integers.
Expected<TokenLayout> npy_layout(const DataFile& file, const std::string& where);

// Of the tensor "tokens" or "input_ids", or of the only tensor that the file has.
Expected<TokenLayout> safetensors_layout(const DataFile& file, const std::string& where);

} // namespace fourfold
