// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/presets.h"
#include "core/base/input_file.h"
#include "core/base/paths.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

#include <sys/stat.h>

#include <optional>
#include <set>

namespace fourfold {

namespace {
// Ids become file names: no separators, no hidden files.
bool is_safe_id(const std::string& id)
{
    return !id.empty() && id.size() <= 200 && id.front() != '.' && id.find('/') == std::string::npos
        && id.find('\0') == std::string::npos;
}

// Plans are saved as <id>.plan.json, all other kinds as <id>.json.
std::vector<std::string> suffixes(const std::string& kind)
{
    if (kind == "plans")
        return {".plan.json", ".json"};
    return {".json"};
}

// The few ids that may have been meant; where there are more than a line of them, how all of them are listed.
std::string other_ids(const std::string& kind, const std::string& id, const std::vector<std::string>& known)
{
    constexpr std::size_t kLine = 6, kNear = 3;
    if (known.empty())
        return "no " + kind + " were found; FOURFOLD_PRESETS may name the presets folder";
    const std::string all = (kind == "recipes" ? "`fourfold recipe`" : "`fourfold presets " + kind + "`")
        + " lists all " + std::to_string(known.size());
    // "meta-llama/Llama-3.1-8B", as Hugging Face calls it.
    const std::vector<std::string> near = nearest_words(id.substr(id.rfind('/') + 1), known, kNear);
    if (!near.empty())
        return "did you mean " + joined(near, " or ") + "?" + (near.size() == kNear ? " " + all : "");
    return known.size() <= kLine ? "known: " + joined(known, ", ") : all;
}
} // namespace

Presets::Presets(std::vector<std::filesystem::path> folders)
    : folders_(std::move(folders))
{
}

Presets::Presets()
    : Presets(preset_folders())
{
}

Expected<std::filesystem::path> Presets::file(const std::string& kind, const std::string& id) const
{
    std::optional<Problem> in_its_place;
    if (is_safe_id(id)) {
        for (const auto& folder : folders_) {
            for (const std::string& suffix : suffixes(kind)) {
                std::error_code error;
                auto file = folder / kind / (id + suffix);
                if (std::filesystem::is_regular_file(file, error))
                    return file;
                struct stat info { };
                if (::lstat(file.c_str(), &info) != 0 || in_its_place)
                    continue;
                const bool leads = ::stat(file.c_str(), &info) == 0;
                in_its_place = Problem{ProblemCode::bad_input,
                    leads ? "is " + kind_of_file(info.st_mode) + ", expected a file" : "is a link that leads nowhere",
                    "", file.string()};
            }
        }
    }
    if (in_its_place)
        return *in_its_place;
    const std::string singular = kind.substr(0, kind.size() - 1);
    return Problem{ProblemCode::not_found, "there is no " + singular + " preset " + in_quotes(id),
        other_ids(kind, id, ids(kind)), ""};
}

std::vector<std::string> Presets::ids(const std::string& kind) const
{
    std::set<std::string> out;
    for (const auto& folder : folders_) {
        std::error_code error;
        for (std::filesystem::directory_iterator entry(folder / kind, error), end; !error && entry != end;
             entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            for (const std::string& suffix : suffixes(kind)) {
                if (name.size() > suffix.size() && name.ends_with(suffix) && name.front() != '.') {
                    out.insert(name.substr(0, name.size() - suffix.size()));
                    break;
                }
            }
        }
    }
    return {out.begin(), out.end()};
}

Expected<ModelShape> Presets::model(const std::string& id) const
{
    FOURFOLD_TRY(const auto path, file("models", id));
    FOURFOLD_TRY(const Json json, read_json_file(path));
    FOURFOLD_TRY(ModelShape shape, model_from_config(json, path.string()));
    shape.id = id;
    return shape;
}

Expected<Gpu> Presets::gpu(const std::string& id) const
{
    FOURFOLD_TRY(const auto path, file("gpus", id));
    FOURFOLD_TRY(const Json json, read_json_file(path));
    FOURFOLD_TRY(Gpu gpu, gpu_from_json(json, path.string()));
    gpu.id = id;
    return gpu;
}

Expected<Cluster> Presets::cluster(const std::string& id) const
{
    FOURFOLD_TRY(const auto path, file("clusters", id));
    FOURFOLD_TRY(const Json json, read_json_file(path));
    const Problem no_gpu{
        ProblemCode::bad_input, "missing, expected a GPU's id or an object", "", path.string() + ": gpu"};
    if (!json.is_object() || !json.contains("gpu"))
        return no_gpu;
    const Json& written = json["gpu"];
    if (!written.is_string() && !written.is_object())
        return no_gpu;
    const std::string where = path.string() + ": gpu";
    auto found = written.is_string() ? this->gpu(written.get<std::string>()) : gpu_from_json(written, where);
    if (!found && found.error().where.empty()) // which of the user's clusters names it
        found.error().where = where;
    FOURFOLD_TRY(const Gpu gpu, std::move(found));
    FOURFOLD_TRY(Cluster cluster, cluster_from_json(json, gpu, path.string()));
    cluster.id = id;
    return cluster;
}

Expected<Stack> Presets::stack(const std::string& written) const
{
    const auto [id, release] = written_stack(written);
    if (id.size() < written.size() && !is_release_name(release))
        return Problem{ProblemCode::bad_input, "found " + in_quotes(release) + " behind the @, expected a release",
            "as in megatron-core@25.09", ""};
    FOURFOLD_TRY(const auto path, file("stacks", id));
    FOURFOLD_TRY(const Json json, read_json_file(path));
    FOURFOLD_TRY(Stack stack, stack_from_json(json, path.string()));
    stack.id = id;
    if (stack.base) {
        // A base that is gone counts as changed.
        const auto base = file("stacks", stack.base->id);
        const auto now = base ? sha256_file(*base) : Expected<std::string>(base.error());
        stack.base->changed = !now || *now != stack.base->sha256;
    }
    if (!release.empty())
        stack.use_release(release);
    return stack;
}

std::vector<std::string> Presets::stack_choices() const
{
    std::vector<std::string> choices;
    for (const std::string& id : ids("stacks")) {
        choices.push_back(id);
        const auto preset = stack(id);
        if (!preset || preset->releases.size() < 2)
            continue;
        for (const Release& release : preset->releases)
            choices.push_back(id + "@" + release.name);
    }
    return choices;
}

} // namespace fourfold
