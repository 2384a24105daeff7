// SPDX-License-Identifier: GPL-3.0-or-later
// The token files of a plan (run.data, run.eval.data) in one line, as people write them: "corpus.bin, code.bin".
#pragma once

#include "core/plan/plan.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::view {

// Of the list as it is written in a plan. What a file has beside its name is not told. Names that one line could not
// tell apart stand as JSON.
std::string data_text(const Json& files);
// Reads such a line, or the list itself as JSON; null for an empty text. A file that `before` has keeps its share, type
// and part. `path` names the field in the Problem.
Expected<Json> parse_data(const std::string& path, const std::string& text, const Json& before);
// Whether each file is there and holds tokens; the Problem names the first that does not.
Expected<void> check_data_files(const Plan& plan, const std::string& path, const Json& files);
// How a plan names a file: from its own folder where the file lies below it, so that both can be moved together.
std::string data_name(const Plan& plan, const std::filesystem::path& file);

} // namespace fourfold::view
