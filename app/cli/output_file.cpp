// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output_file.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/history/history_files.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace fourfold::cli {

Expected<void> check_output(const std::string& output, const std::vector<std::string>& inputs)
{
    const auto is_output = [&output](const std::filesystem::path& file) {
        std::error_code error;
        return std::filesystem::equivalent(output, file, error);
    };
    FOURFOLD_CHECK(check_no_history(output));
    if (std::any_of(inputs.begin(), inputs.end(), is_output))
        return Problem{
            ProblemCode::bad_input, "is what the command reads, which would be lost", "name another file", output};
    return {};
}

Expected<void> check_ending(
    const std::string& output, const std::string& what, const std::vector<std::string>& own_endings)
{
    constexpr std::array kKnown{".json", ".jsonl", ".csv", ".tsv", ".md", ".tex", ".html", ".svg", ".pdf", ".png",
        ".xlsx", ".xls", ".ods", ".docx"};
    const std::string ending = lower_case(std::filesystem::path(output).extension().string());
    if (std::find(kKnown.begin(), kKnown.end(), ending) == kKnown.end()
        || std::find(own_endings.begin(), own_endings.end(), ending) != own_endings.end())
        return {};
    return Problem{ProblemCode::unsupported, what + " is not written to a file ending in " + ending,
        "name a file that ends in " + joined(own_endings, " or "), output};
}

Expected<void> check_same(const std::filesystem::path& file, const std::string& content, const std::string& cure)
{
    std::error_code error;
    if (!std::filesystem::exists(file, error) || std::filesystem::is_character_file(file, error)) // /dev/stdout
        return {};
    FOURFOLD_TRY(const std::string there, read_text_file(file));
    if (there == content)
        return {};
    return Problem{
        ProblemCode::bad_input, "is there already with another content, which would be lost", cure, file.string()};
}

} // namespace fourfold::cli
