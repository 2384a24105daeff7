// SPDX-License-Identifier: GPL-3.0-or-later
// `pre_tokenizer` of tokenizer.json: how a normalised text is cut into words, which the model then cuts one by one.
#pragma once

#include "core/base/json.h"
#include "core/tokenizer/pieces.h"

#include <memory>
#include <vector>

namespace fourfold {

// One step. Immutable; several threads may use it at once.
class PreTokenizer {
public:
    virtual ~PreTokenizer() = default;
    // Reads `piece`, adds what becomes of it to `pieces.next`.
    virtual Expected<void> cut(const Piece& piece, Pieces& pieces, std::vector<TextSpan>& spans) const = 0;
};

struct PreTokenizers {
    std::vector<std::unique_ptr<PreTokenizer>> steps;
    // The last step writes bytes as letters (byte_letters.h). It is left to who reads the words, since a model that
    // knows its words as bytes needs no letters.
    bool ends_in_letters = false;
};

// Of a pre-tokenizer object, or null. A type that Hugging Face's tokenizers know and this does not is unsupported, and
// named.
Expected<PreTokenizers> pre_tokenizers_of(const Json& json, const std::string& where);

} // namespace fourfold
