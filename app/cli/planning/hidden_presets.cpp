// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/planning/hidden_presets.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/plan/presets.h"
#include "core/plan/written_presets.h"

#include <filesystem>
#include <span>

namespace fourfold {

namespace {
namespace fs = std::filesystem;

std::optional<fs::path> file_in(const std::span<const fs::path> folders, const PresetName& name)
{
    const auto& [kind, id] = name;
    std::error_code error;
    for (const fs::path& folder : folders)
        for (const char* ending : {".plan.json", ".json"})
            if (fs::path file = folder / kind / (id + ending); fs::is_regular_file(file, error))
                return file;
    return std::nullopt;
}

// The user's file where it hides another one.
std::optional<fs::path> hiding_file(const PresetName& name)
{
    constexpr std::size_t kShipped = 2; // the last of the folders: what is installed, and the source tree
    if (name.second.empty() || name.second.find('/') != std::string::npos) // of an object in the plan
        return std::nullopt;
    const std::vector<fs::path> folders = preset_folders();
    const std::span<const fs::path> all(folders);
    auto own = file_in(all.first(all.size() - kShipped), name);
    const auto shipped = own ? file_in(all.last(kShipped), name) : std::nullopt;
    if (!shipped)
        return std::nullopt;
    const auto text = read_text_file(*own);
    const auto hidden = read_text_file(*shipped);
    const auto json = text ? parse_json(*text, "") : Expected<Json>(text.error());
    if (!hidden || (text && *text == *hidden) || (json && json->is_object() && came_from_fourfold(*json)))
        return std::nullopt;
    return own;
}
} // namespace

std::vector<PresetName> presets_of(const ResolvedPlan& plan)
{
    return {{"models", plan.model.id}, {"clusters", plan.cluster.id}, {"gpus", plan.cluster.gpu.id},
        {"stacks", plan.stack.id}};
}

std::vector<PresetName> presets_of(const std::vector<std::string>& kinds)
{
    const Presets presets;
    std::vector<PresetName> names;
    for (const std::string& kind : kinds)
        for (std::string& id : presets.ids(kind))
            names.emplace_back(kind, std::move(id));
    return names;
}

std::optional<std::string> hidden_presets_note(const std::vector<PresetName>& names)
{
    constexpr std::size_t kMostNamed = 5;
    std::vector<std::string> hiding;
    std::size_t more = 0;
    for (const PresetName& name : names) {
        const auto file = hiding_file(name);
        if (file && hiding.size() == kMostNamed)
            ++more;
        else if (file)
            hiding.push_back(name.first + " " + name.second + " (" + printable(file->string(), kUncut) + ")");
    }
    if (hiding.empty())
        return std::nullopt;
    if (more > 0)
        hiding.push_back(std::to_string(more) + " more");
    const bool one = hiding.size() == 1;
    return joined(hiding, ", ")
        + (one ? " is yours, and takes the place of the one" : " are yours, and take the place of those")
        + " that came with Fourfold";
}

} // namespace fourfold
