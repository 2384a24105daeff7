// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/inference/texts.h"

namespace fourfold::trainer {

Expected<Texts> Texts::open(
    const std::filesystem::path& named, const std::filesystem::path& checkpoint, int64_t vocabulary)
{
    Texts texts;
    std::error_code error;
    std::filesystem::path file = named.empty() ? checkpoint : named;
    if (std::filesystem::is_directory(file, error))
        file /= "tokenizer.json";
    if (named.empty() && !std::filesystem::exists(file, error))
        return texts;
    FOURFOLD_TRY(texts.tokenizer_, Tokenizer::open(file));
    if (texts.tokenizer_->vocabulary_size() > vocabulary)
        return Problem{ProblemCode::bad_input,
            "has " + std::to_string(texts.tokenizer_->vocabulary_size()) + " tokens, the model "
                + std::to_string(vocabulary),
            "give the tokenizer that its data were made with", file.string()};
    FOURFOLD_TRY(TextOfTokens back, TextOfTokens::open(file));
    texts.back_ = std::make_shared<const TextOfTokens>(std::move(back));
    FOURFOLD_TRY(const auto end, usual_end_token(file, *texts.tokenizer_));
    if (end)
        texts.end_ = texts.tokenizer_->id_of(*end);
    return texts;
}

std::vector<int64_t> Texts::before() const
{
    return tokenizer_ ? std::vector<int64_t>(tokenizer_->before().begin(), tokenizer_->before().end())
                      : std::vector<int64_t>();
}

Expected<std::vector<int64_t>> Texts::ids(const std::string& text, const std::string& where) const
{
    if (!tokenizer_)
        return Problem{ProblemCode::bad_input, "a text needs a tokenizer",
            "give --tokenizer tokenizer.json, or token ids: [1, 2]", where};
    if (!is_utf8(text))
        return Problem{ProblemCode::bad_input, "the text is not UTF-8", "", where};
    Encoder encoder(tokenizer_);
    std::vector<std::uint32_t> ids = tokenizer_->before();
    FOURFOLD_CHECK(encoder.encode(text, ids));
    return std::vector<int64_t>(ids.begin(), ids.end());
}

std::string Texts::text(const std::vector<int64_t>& ids) const
{
    if (back_)
        return back_->text(std::vector<std::uint32_t>(ids.begin(), ids.end()));
    std::string text;
    for (const int64_t id : ids)
        text += (text.empty() ? "" : " ") + std::to_string(id);
    return text;
}

} // namespace fourfold::trainer
