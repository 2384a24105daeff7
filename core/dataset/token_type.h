// SPDX-License-Identifier: GPL-3.0-or-later
// How many bytes a token of a plan's data file takes.
#pragma once

#include "core/dataset/token_index.h"
#include "core/layout/run_settings.h"

namespace fourfold {

// `dtype` of the plan ("uint8", "uint16", "uint32"), or what an index beside the file says, or its name (.txt: one
// byte, else two). Fails where the plan and the index disagree, and where the file has not the bytes that its index
// says (it is torn, or of another corpus). `where` is the plan's field, e.g. "run.data[0]".
Expected<TokenBytes> token_bytes_of(const DataSource& source, const std::string& where);
std::string dtype_of(TokenBytes bytes);

} // namespace fourfold
