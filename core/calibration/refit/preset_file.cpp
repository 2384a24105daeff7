// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/refit/preset_file.h"

namespace fourfold {
namespace {

// A constant may be an object with remarks of its own.
void set(Json& constants, const std::string& name, double value)
{
    if (constants.contains(name) && constants[name].is_object())
        constants[name]["value"] = value;
    else
        constants[name] = value;
}

} // namespace

Expected<void> write_constants(const std::filesystem::path& presets, const Stack& before, const Stack& fitted)
{
    const auto file = presets / "stacks" / (fitted.id + ".json");
    FOURFOLD_TRY(Json json, read_json_file(file));
    for (const auto& [name, value] : fitted.constants) {
        const auto old = before.constants.find(name);
        if (old == before.constants.end() || old->second != value)
            set(json["constants"], name, value);
    }
    for (const auto& [gpu, constants] : fitted.gpu_constants) {
        const auto known = before.gpu_constants.find(gpu);
        for (const auto& [name, value] : constants) {
            const bool same = known != before.gpu_constants.end() && known->second.contains(name)
                && known->second.at(name) == value;
            if (!same)
                set(json["gpu_constants"][gpu], name, value);
        }
    }
    return write_file_atomically(file, json.dump(2) + "\n");
}

} // namespace fourfold
