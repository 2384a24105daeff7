// SPDX-License-Identifier: GPL-3.0-or-later
// A folder of a test's own, a small tokenizer, and files written in one line.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace fourfold::testing_pack {

namespace fs = std::filesystem;

class Folder {
public:
    Folder()
    {
        std::string path = fs::temp_directory_path() / "fourfold-pack-XXXXXX";
        if (mkdtemp(path.data()) == nullptr)
            std::abort();
        path_ = path;
    }
    ~Folder()
    {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const
    {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << text;
        return path_ / name;
    }

private:
    fs::path path_;
};

inline std::string bytes_of(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

template <typename Number>
std::vector<Number> numbers_of(const std::string& bytes)
{
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
    return numbers;
}

// Words of single letters: a is 0, b is 1, ...; the end is 26; all else is 27.
inline std::string letters_tokenizer()
{
    std::string vocab;
    for (char letter = 'a'; letter <= 'z'; ++letter)
        vocab += std::string("\"") + letter + "\": " + std::to_string(letter - 'a') + ", ";
    return R"({"model": {"type": "BPE", "merges": [], "unk_token": "?", "vocab": {)" + vocab
        + R"("</s>": 26, "?": 27}}, "added_tokens": [{"id": 26, "content": "</s>", "special": true}],)"
          R"("post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "?"}}, {"Sequence": {"id": "A"}}],)"
          R"("special_tokens": {"?": {"id": "?", "ids": [27], "tokens": ["?"]}}}})";
}

} // namespace fourfold::testing_pack
