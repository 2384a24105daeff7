// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/hub_cache.h"

#include "core/base/json.h"
#include "core/base/paths.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace fourfold {

namespace {

std::filesystem::path variable(const char* name)
{
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool is_plain(const std::string& part)
{
    return !part.empty() && part.front() != '.' && std::all_of(part.begin(), part.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'
            || c == '.';
    });
}

bool is_file(const std::filesystem::path& file)
{
    std::error_code error;
    return std::filesystem::is_regular_file(file, error);
}

} // namespace

std::filesystem::path hub_cache_folder()
{
    if (const auto cache = variable("HF_HUB_CACHE"); !cache.empty())
        return cache;
    if (const auto home = variable("HF_HOME"); !home.empty())
        return home / "hub";
    return cache_folder().parent_path() / "huggingface" / "hub";
}

bool is_hub_id(const std::string& text)
{
    const std::size_t slash = text.find('/');
    return slash != std::string::npos && is_plain(text.substr(0, slash)) && is_plain(text.substr(slash + 1));
}

Expected<std::filesystem::path> cached_config(const std::string& hub_id, const std::filesystem::path& cache)
{
    std::string folder = "models--" + hub_id;
    folder.replace(folder.find('/'), 1, "--");
    const std::filesystem::path snapshots = cache / folder / "snapshots";
    if (const auto main = read_text_file(cache / folder / "refs" / "main", 256)) {
        const std::string revision(trimmed(*main, " \t\r\n"));
        if (is_plain(revision) && is_file(snapshots / revision / "config.json"))
            return snapshots / revision / "config.json";
    }
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(snapshots, error)) {
        if (is_file(entry.path() / "config.json"))
            found.push_back(entry.path() / "config.json");
    }
    if (found.size() == 1)
        return found.front();
    if (found.size() > 1)
        return Problem{ProblemCode::bad_input, std::to_string(found.size()) + " revisions of it are in the cache",
            "name the config.json of one of them below " + snapshots.string(), hub_id};
    return Problem{ProblemCode::not_found, "is not in the Hugging Face cache of this computer (" + cache.string() + ")",
        "get https://huggingface.co/" + hub_id + "/resolve/main/config.json and name that file", hub_id};
}

} // namespace fourfold
