// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/target/target.h"

#include "core/plan/presets.h"
#include "runner/target/target_hosts.h"

namespace fourfold {

namespace {

Expected<Target> ad_hoc(const std::string& text)
{
    Target target;
    target.id = text;
    target.kind = TargetKind::ssh;
    std::string user;
    for (const std::string& part : split_hosts(text)) {
        FOURFOLD_TRY(const auto names, expand_ranges(part, "--target"));
        for (const std::string& name : names) {
            FOURFOLD_TRY(SshPlace place, place_from_text(name, "--target"));
            user = place.user.empty() ? user : place.user;
            place.user = user;
            target.hosts.emplace_back(std::move(place));
        }
    }
    return target;
}

} // namespace

Expected<Target> target_of_host(const std::string& text)
{
    const bool plain = text.find_first_of("@,:.[/") == std::string::npos;
    const Presets presets;
    return plain && text != "local" && !presets.file("targets", text) ? ad_hoc(text) : load_target(text);
}

Expected<Target> load_target(const std::string& name_or_file)
{
    const bool is_file = name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".json");
    if (name_or_file.find("://") != std::string::npos)
        return Problem{ProblemCode::bad_input, "is a web address, expected a host, a target or its file",
            "write user@host or host:22", printable(name_or_file)};
    const Presets presets;
    auto preset = is_file ? Expected<std::filesystem::path>(name_or_file) : presets.file("targets", name_or_file);
    if (preset) {
        FOURFOLD_TRY(const Json json, read_json_file(*preset, 1u << 20));
        FOURFOLD_TRY(Target target, target_from_json(json, preset->string()));
        target.id = name_or_file;
        return target;
    }
    if (name_or_file == "local") {
        Target target;
        target.hosts.emplace_back().address = "127.0.0.1";
        return target;
    }
    if (name_or_file.find_first_of("@,:.[") != std::string::npos)
        return ad_hoc(name_or_file);
    Problem problem = std::move(preset).error();
    problem.hint += (problem.hint.empty() ? "" : "; ") + std::string("for a host write user@host or host:22");
    return problem;
}

} // namespace fourfold
