// SPDX-License-Identifier: GPL-3.0-or-later
// Models that Hugging Face's own tools have downloaded to this computer. Nothing is fetched from here.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <string>

namespace fourfold {

// $HF_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub, as huggingface_hub looks
// for it (https://huggingface.co/docs/huggingface_hub/guides/manage-cache).
std::filesystem::path hub_cache_folder();

// "organisation/name", as models are named on the Hub; a path to a file or a folder is none.
bool is_hub_id(const std::string& text);

// The config.json of a model in a cache: of the revision that "main" stands for, else of the only one that is there.
// not_found says which file to get.
Expected<std::filesystem::path> cached_config(const std::string& hub_id, const std::filesystem::path& cache);

} // namespace fourfold
