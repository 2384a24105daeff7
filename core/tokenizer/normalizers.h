// SPDX-License-Identifier: GPL-3.0-or-later
// `normalizer` of tokenizer.json: how a text is rewritten before it is cut.
#pragma once

#include "core/base/json.h"
#include "core/tokenizer/pieces.h"

#include <memory>
#include <vector>

namespace fourfold {

// One step. Immutable; several threads may use it at once.
class Normalizer {
public:
    virtual ~Normalizer() = default;
    virtual Expected<void> apply(std::string& text, Pieces& pieces) const = 0;
};

// The steps of a text, in order.
using Normalizers = std::vector<std::unique_ptr<Normalizer>>;

// Of a normaliser object, or null. A type that Hugging Face's tokenizers know and this does not is unsupported, and
// named.
Expected<void> add_normalizers(const Json& json, const std::string& where, Normalizers& steps);

// Of a string, or { "String": ... } or { "Regex": ... }, as Replace and Split name what they look for.
struct Pattern {
    std::string text;
    std::shared_ptr<const RegularExpression> expression; // instead of the text
    Expected<void> find(std::string_view in, Pieces& pieces, std::vector<TextSpan>& spans) const;
};
Expected<Pattern> pattern_of(const Json& json, const std::string& where);

} // namespace fourfold
