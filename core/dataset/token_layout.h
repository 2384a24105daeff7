// SPDX-License-Identifier: GPL-3.0-or-later
// Where the token ids of a plan's data file lie and how they are stored: plain tokens, Megatron's .bin with its .idx,
// NumPy's .npy (1-D, or 2-D row after row) and .safetensors.
#pragma once

#include "core/dataset/token_index.h"
#include "core/layout/run_settings.h"

#include <memory>

namespace fourfold {

struct TokenLayout {
    std::int64_t first_byte = 0, tokens = 0;
    int bytes = 2; // of an id, little-endian
    bool has_sign = false;
};

// A token file that was opened. Immutable; several threads may read at once.
struct TokenStore {
    std::shared_ptr<const DataFile> file;
    TokenLayout layout;
    std::shared_ptr<const TokenIndex> index; // null: none beside the file

    // Ids [first, first + count), which must be there; a negative one comes out negative.
    Expected<void> read(std::int64_t first, std::int64_t count, std::int64_t* out) const;
};

// `where` is the plan's field, e.g. "run.data[0]". Fails where the file holds no whole, positive number of tokens,
// where its head is no head of integers, where dtype says something else than file or index, and where it has not the
// bytes that its index says (it is torn, or of another corpus).
Expected<TokenStore> open_tokens(const DataSource& source, const std::string& where);

} // namespace fourfold
