// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/end_token.h"

#include <array>

namespace fourfold {

Expected<std::optional<std::string>> usual_end_token(
    const std::filesystem::path& tokenizer_file, const Tokenizer& tokenizer)
{
    const std::filesystem::path config = tokenizer_file.parent_path() / "tokenizer_config.json";
    std::error_code error;
    if (std::filesystem::exists(config, error)) {
        FOURFOLD_TRY(const Json json, read_json_file(config));
        const Json token = json.is_object() ? json.value("eos_token", Json()) : Json();
        if (token.is_string())
            return std::optional(token.get<std::string>());
        if (token.is_object() && token.contains("content") && token["content"].is_string())
            return std::optional(token["content"].get<std::string>());
    }
    constexpr std::array kUsual{
        "<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<|eos|>", "<\uff5cend\u2581of\u2581sentence\uff5c>"};
    for (const char* const name : kUsual)
        if (tokenizer.id_of(name))
            return std::optional<std::string>(name);
    return std::optional<std::string>();
}

} // namespace fourfold
