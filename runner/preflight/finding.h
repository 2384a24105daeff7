// SPDX-License-Identifier: GPL-3.0-or-later
// One thing that a look at the nodes brought up: what, on which host, by which evidence, and the cure.
#pragma once

#include "core/base/json.h"
#include "core/base/words.h"

#include <string>
#include <vector>

namespace fourfold {

enum class FindingLevel { info, warning, error }; // error: a run cannot work
template <>
inline constexpr auto kWords<FindingLevel> = std::to_array<std::string_view>({"info", "warning", "error"});

struct Finding {
    FindingLevel level = FindingLevel::info;
    std::string host; // as in the target; empty = about several
    std::string check; // "disk", "GPU memory", "reach" ...
    std::string message, evidence, cure;

    // "host: check: message (evidence); cure", one line.
    [[nodiscard]] std::string line() const;
};

Json to_json(const Finding& finding);
// The list that an agent answers; what is malformed in it is left out.
std::vector<Finding> findings_from_agent(const Json& list, const std::string& host);
// The first error as a Problem for a run that is refused.
Expected<void> check_findings(const std::vector<Finding>& findings);

} // namespace fourfold
