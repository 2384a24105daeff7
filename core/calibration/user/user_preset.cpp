// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/user_preset.h"
#include "core/base/paths.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace fourfold {
namespace {

using ClusterId = std::optional<std::string>;

const char* kind_of(const ClusterId& cluster)
{
    return cluster ? "clusters" : "stacks";
}
const char* kind_of(const Calibration& calibration)
{
    return kind_of(calibration.cluster);
}

std::string base_of(const Calibration& calibration)
{
    return calibration.cluster ? *calibration.cluster : calibration.stack;
}

std::string default_id(const std::string& base)
{
    return base.ends_with("-calibrated") ? base : base + "-calibrated";
}

std::filesystem::path file_of(const ClusterId& cluster, const std::string& id)
{
    return config_folder() / "presets" / kind_of(cluster) / (id + ".json");
}

bool can_be_id(const std::string& id)
{
    return !id.empty() && id.size() <= 100 && id.front() != '.' && id.front() != '-'
        && std::all_of(id.begin(), id.end(), [](unsigned char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'
                   || c == '.';
           });
}

bool ships(const std::string& kind, const std::string& id)
{
    const auto own = config_folder() / "presets";
    for (const auto& folder : preset_folders()) {
        std::error_code error;
        if (folder != own && std::filesystem::is_regular_file(folder / kind / (id + ".json"), error))
            return true;
    }
    return false;
}

// A calibration is made again when there are more runs; what somebody wrote by hand is not replaced.
bool is_replaceable(const std::filesystem::path& file)
{
    std::error_code error;
    if (!std::filesystem::exists(file, error))
        return true;
    const auto preset = read_json_file(file);
    return preset && preset->is_object() && preset->contains("calibrated_rows");
}

// Fitted constants of the measured GPUs, rounded as they are stored.
Json fitted_of(const Calibration& calibration, const std::string& gpu)
{
    Json constants = Json::object();
    const auto own = calibration.fit.stack.gpu_constants.find(gpu);
    if (own == calibration.fit.stack.gpu_constants.end())
        return constants;
    for (const ConstantEstimate& estimate : calibration.fit.constants) {
        const bool of_gpu = estimate.gpu.empty() || estimate.gpu == gpu;
        if (const auto value = own->second.find(estimate.name); of_gpu && value != own->second.end())
            constants[estimate.name] = value->second;
    }
    return constants;
}

} // namespace

std::string default_preset_id(const Calibration& calibration)
{
    return default_id(base_of(calibration));
}

std::string name_in_plans(const Calibration& calibration, const std::string& id)
{
    return calibration.release.empty() ? id : id + "@" + calibration.release;
}

namespace {
// A fit takes minutes: what cannot be saved is said before it. What is not there yet is made when it is saved.
Expected<void> check_folder(const std::filesystem::path& folder)
{
    std::error_code error;
    for (std::filesystem::path at = folder; !at.empty(); at = at.parent_path()) {
        if (!std::filesystem::exists(at, error)) {
            if (at == at.parent_path())
                break;
            continue;
        }
        if (!std::filesystem::is_directory(at, error))
            return Problem{ProblemCode::io, "is not a folder", "move it away", at.string()};
        if (::access(at.c_str(), W_OK) != 0)
            return Problem{ProblemCode::io, std::string("cannot be written: ") + std::strerror(errno),
                "change its permissions", at.string()};
        break;
    }
    return {};
}
} // namespace

Expected<void> check_preset_id(const ClusterId& cluster, const std::string& stack, const std::string& id)
{
    const std::string usual = default_id(cluster ? *cluster : written_stack(stack).id),
                      chosen = id.empty() ? usual : id;
    if (!can_be_id(chosen))
        return Problem{ProblemCode::bad_input, "found " + in_quotes(chosen) + ", expected a preset's id",
            "use letters, digits, '-', '_' and '.'", "--output"};
    if (ships(kind_of(cluster), chosen))
        return Problem{ProblemCode::bad_input, in_quotes(chosen) + " is a preset that ships with the program",
            "choose another id, for example " + usual, "--output"};
    if (const auto file = file_of(cluster, chosen); !is_replaceable(file))
        return Problem{ProblemCode::bad_input, in_quotes(chosen) + " is a preset of your own that no calibration made",
            "choose another id, or move " + file.string() + " away", "--output"};
    return check_folder(file_of(cluster, chosen).parent_path());
}

Expected<Json> preset_of(const Calibration& calibration, const std::string& id, const Presets& presets)
{
    FOURFOLD_TRY(const auto file, presets.file(kind_of(calibration), base_of(calibration)));
    FOURFOLD_TRY(const std::string text, read_text_file(file));
    FOURFOLD_TRY(Json json, parse_json(text, file.string()));
    const std::string was = json.value("name", base_of(calibration));
    const std::string mark = " (calibrated ";
    json["id"] = id;
    json["name"] = was.substr(0, was.find(mark)) + mark + calibration.date + ")";
    if (id != base_of(calibration))
        json["base"] = {{"id", base_of(calibration)}, {"sha256", sha256_hex(text)}};
    json["calibrated_rows"] = calibration.rows;
    const std::string remark = "fitted to " + calibration.source + " on " + calibration.date;
    if (calibration.cluster) {
        json["calibration"] = {{"stack", calibration.stack}, {"date", calibration.date}, {"source", remark},
            {"constants", fitted_of(calibration, calibration.gpus.front())}};
        return json;
    }
    // A release's own constants stand with it: the stack and its other releases keep theirs.
    Json& kept = calibration.release.empty() ? json : release_entry(json, calibration.release);
    for (const std::string& gpu : calibration.gpus) {
        Json& constants = kept["gpu_constants"][gpu];
        if (!constants.is_object())
            constants = Json::object();
        const Json fitted = fitted_of(calibration, gpu);
        for (const auto& [name, value] : fitted.items())
            constants[name] = value;
        constants["date"] = calibration.date;
        constants["source"] = remark;
        if (!calibration.release.empty() && std::ranges::find(kept["gpus"], Json(gpu)) == kept["gpus"].end())
            kept["gpus"].push_back(gpu);
        const MeasuredDomains& measured = calibration.fit.stack.measured;
        if (const auto found = measured.find(gpu); found != measured.end()) {
            MeasuredDomain domain = found->second;
            // Those of the runs that the shipped constants were fitted to.
            domain.intra_node_gb_s = domain.inter_node_gb_s = domain.parameters_b = {};
            kept["measured"][gpu] = to_json(MeasuredDomains{{gpu, domain}})[gpu];
        }
    }
    return json;
}

Expected<std::filesystem::path> save_preset(
    const Calibration& calibration, const std::string& id, const Presets& presets)
{
    const std::string chosen = id.empty() ? default_preset_id(calibration) : id;
    FOURFOLD_CHECK(check_preset_id(calibration.cluster, calibration.stack, chosen));
    FOURFOLD_TRY(const Json json, preset_of(calibration, chosen, presets));
    const auto file = file_of(calibration.cluster, chosen);
    FOURFOLD_CHECK(make_folders(file.parent_path()));
    FOURFOLD_CHECK(write_file_atomically(file, json.dump(2) + "\n"));
    return file;
}

} // namespace fourfold
