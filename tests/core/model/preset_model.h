// SPDX-License-Identifier: GPL-3.0-or-later
// The shipped preset of a model, read straight from the source tree.
#pragma once

#include "core/model/model_shape.h"

#include <gtest/gtest.h>

#include <string>

namespace fourfold::test {

inline ModelShape preset_model(const std::string& id)
{
    const std::string file = std::string(FOURFOLD_SOURCE_DIR) + "/presets/models/" + id + ".json";
    const auto json = read_json_file(file);
    if (!json) {
        ADD_FAILURE() << json.error().line();
        return {};
    }
    auto model = model_from_config(*json, id);
    if (!model) {
        ADD_FAILURE() << model.error().line();
        return {};
    }
    return *std::move(model);
}

} // namespace fourfold::test
