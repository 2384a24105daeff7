// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/expression/fields.h"

#include "core/base/text.h"

#include <algorithm>

namespace fourfold {

std::optional<std::size_t> FieldSet::find(std::string_view name) const
{
    const std::string lower = lower_case(name);
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const ExpressionField& field = fields_[i];
        if (field.name == lower || std::find(field.aliases.begin(), field.aliases.end(), lower) != field.aliases.end())
            return i;
    }
    return std::nullopt;
}

std::vector<std::string> FieldSet::nearest(std::string_view word) const
{
    std::vector<std::string> names;
    for (const ExpressionField& field : fields_) {
        names.push_back(field.name);
        names.insert(names.end(), field.aliases.begin(), field.aliases.end());
    }
    return nearest_words(word, names);
}

} // namespace fourfold
