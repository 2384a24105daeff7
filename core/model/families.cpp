// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/family.h"

#include <array>

namespace fourfold {

std::span<const Family> families()
{
    static const std::array kFamilies{kLlama, kMistral, kQwen2, kMixtral, kDeepseekV3, kQwen3, kQwen3Moe, kGemma3,
        kNemotron, kGptOss, kLlama4, kGrok, kGpt2, kGptNeox, kBloom, kDecoder};
    return kFamilies;
}

const Family* find_family(std::string_view model_type)
{
    for (const Family& family : families()) {
        if (family.model_type == model_type)
            return &family;
    }
    return nullptr;
}

} // namespace fourfold
