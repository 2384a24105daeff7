// SPDX-License-Identifier: GPL-3.0-or-later
// The trainer's tools as a user calls them, and files for them.
#pragma once

#include "core/base/json.h"
#include "tests/parity/ranks.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace fourfold::testing {

struct Output {
    int status = 0;
    std::string out, error;
    [[nodiscard]] std::vector<Json> lines() const
    {
        std::vector<Json> all;
        std::istringstream in(out);
        for (std::string line; std::getline(in, line);)
            all.push_back(Json::parse(line));
        return all;
    }
};

inline std::string contents(const std::filesystem::path& file)
{
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

// fourfold-trainer with these arguments, on one thread.
inline Output tool(const std::filesystem::path& folder, const std::vector<std::string>& arguments)
{
    std::string command = "OMP_NUM_THREADS=1 '" + trainer_program().string() + "'";
    for (const std::string& argument : arguments)
        command += " '" + argument + "'";
    command += " >'" + (folder / "out").string() + "' 2>'" + (folder / "error").string() + "'";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), contents(folder / "out"), contents(folder / "error")};
}

inline std::filesystem::path write_lines(const std::filesystem::path& folder, const std::string& text)
{
    std::ofstream(folder / "lines.jsonl") << text;
    return folder / "lines.jsonl";
}

// Byte-level words of a vocabulary of 61: enough to make text of the tiny models.
inline std::filesystem::path write_tokenizer(const std::filesystem::path& folder, int tokens = 61)
{
    Json vocabulary = Json::object();
    vocabulary["<|endoftext|>"] = 0;
    for (int i = 1; i < tokens; ++i)
        vocabulary[std::string(1, static_cast<char>('@' + i))] = i;
    const Json json{{"added_tokens", {{{"id", 0}, {"content", "<|endoftext|>"}, {"special", true}}}},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}}, {"decoder", {{"type", "ByteLevel"}}},
        {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}}}};
    std::ofstream(folder / "tokenizer.json") << json;
    return folder / "tokenizer.json";
}

inline const std::string kLines = R"({"context": [1, 2, 3], "continuation": [4, 5]}
{"context": [7], "choices": [[8], [9, 10, 11], [60, 0]], "answer": 1}
{"context": [3, 1, 4, 1, 5, 9, 2, 6], "continuation": [5]}
)";

} // namespace fourfold::testing
