// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/run_spec.h"

#include "runner/protocol/message.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace fourfold {

namespace {
constexpr std::array<std::string_view, 15> kReserved{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
    "MASTER_ADDR", "MASTER_PORT", "FOURFOLD_ADDRESS", "FOURFOLD_BACKEND", "FOURFOLD_RUN", "FOURFOLD_NODE",
    "FOURFOLD_FOLDER", "FOURFOLD_TOKEN", "FOURFOLD_LISTENER", "HOME", "PWD"};

Problem bad(std::string message)
{
    return {ProblemCode::bad_input, std::move(message), {}, "spec"};
}
} // namespace

std::string run_folder_name(const std::string& run, int node)
{
    return node == 0 ? run : run + "/node" + std::to_string(node);
}

Expected<void> check_environment(const std::map<std::string, std::string>& environment, const std::string& where)
{
    // Linux starts no program with more than a quarter of the stack's limit (8 MiB), and the node adds its own.
    constexpr std::size_t kMostVariables = 4096, kMostBytes = 1 << 20;
    std::size_t bytes = 0;
    for (const auto& [key, value] : environment)
        bytes += key.size() + value.size() + 2;
    if (environment.size() > kMostVariables || bytes > kMostBytes)
        return Problem{ProblemCode::bad_input,
            std::to_string(environment.size()) + " variables of together " + std::to_string(bytes)
                + " bytes, expected at most " + std::to_string(kMostVariables) + " and 1 MiB",
            "put what is long into a file", where};
    for (const auto& [key, value] : environment) {
        const bool spelled = !key.empty() && !(key[0] >= '0' && key[0] <= '9') && key.size() <= 256
            && std::all_of(key.begin(), key.end(), [](char c) {
                   return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
               });
        if (!spelled)
            return Problem{ProblemCode::bad_input, "\"" + key + "\" is not a name of an environment variable",
                "letters, digits and _ only", where};
        if (std::find(kReserved.begin(), kReserved.end(), key) != kReserved.end())
            return Problem{ProblemCode::bad_input, key + " is set by the launcher itself", "remove it", where};
        if (value.find('\0') != std::string::npos || value.size() > 65536)
            return Problem{ProblemCode::bad_input, "the value of " + key + " holds a NUL or is over 64 KiB", {}, where};
    }
    return {};
}

namespace {

Expected<std::vector<std::string>> texts_of(const Json& json, const char* key)
{
    std::vector<std::string> out;
    for (const Json& item : array_field(json, key)) {
        if (!item.is_string()
            || item.get_ref<const std::string&>().find_first_of(std::string_view("\0\n", 2)) != std::string::npos)
            return bad(std::string(key) + " holds something that is not one line of text");
        out.push_back(item.get<std::string>());
    }
    return out;
}

Expected<void> read_node_settings(const Json& json, RunSpec& spec)
{
    const Json& limits = object_field(json, "limits");
    for (const RunLimit& limit : kRunLimits) {
        double& value = spec.limits.*limit.member;
        value = std::clamp(number_field(limits, limit.key, value), 0.0, 1e9);
    }
    FOURFOLD_TRY(spec.prelude, texts_of(json, "prelude"));
    FOURFOLD_TRY(spec.group_writable, texts_of(json, "group_writable"));
    spec.interface = text_field(json, "interface");
    spec.numa = text_field(json, "numa", "none");
    spec.look_first = flag_field(json, "look_first");
    spec.mixed_gpus = flag_field(json, "mixed_gpus");
    if (const Json& container = object_field(json, "container"); !container.empty()) {
        spec.container = Container{text_field(container, "image"), {}};
        FOURFOLD_TRY(spec.container->binds, texts_of(container, "binds"));
        if (spec.container->image.empty() || spec.container->image[0] == '-')
            return bad("the container has no image");
    }
    return {};
}

} // namespace

Json to_json(const RunSpec& spec)
{
    Json limits = Json::object();
    for (const RunLimit& limit : kRunLimits)
        limits[limit.key] = spec.limits.*limit.member;
    Json container = nullptr;
    if (spec.container)
        container = {{"image", spec.container->image}, {"binds", spec.container->binds}};
    Json ranks = Json::array();
    for (const RankPlace& place : spec.ranks)
        ranks.push_back({{"rank", place.rank}, {"local_rank", place.local_rank}, {"coordinates", place.coordinates}});
    Json files = Json::array();
    for (const RunFile& file : spec.files)
        files.push_back(
            {{"name", file.name}, {"sha256", file.sha256}, {"size", file.size}, {"in_place", file.in_place}});
    Json environment = Json::object();
    for (const auto& [key, value] : spec.environment)
        environment[key] = value;
    return {{"run", spec.run}, {"node", spec.node}, {"nodes", spec.nodes}, {"host", spec.host},
        {"address", spec.address}, {"world_size", spec.world_size}, {"ranks", std::move(ranks)},
        {"program", spec.program}, {"files", std::move(files)}, {"library_path", spec.library_path},
        {"plan", spec.plan}, {"environment", std::move(environment)}, {"backend", spec.backend},
        {"grace_s", spec.grace_s}, {"saves", spec.saves}, {"limits", std::move(limits)}, {"prelude", spec.prelude},
        {"container", std::move(container)}, {"interface", spec.interface}, {"numa", spec.numa},
        {"look_first", spec.look_first}, {"mixed_gpus", spec.mixed_gpus}, {"group_writable", spec.group_writable},
        {"start_facts", spec.start_facts}};
}

Expected<RunSpec> run_spec_from_json(const Json& json)
{
    RunSpec spec;
    spec.run = text_field(json, "run");
    spec.node = static_cast<int>(integer_field(json, "node"));
    spec.nodes = static_cast<int>(integer_field(json, "nodes", 1));
    spec.host = text_field(json, "host");
    spec.address = text_field(json, "address");
    spec.world_size = static_cast<int>(integer_field(json, "world_size"));
    spec.program = text_field(json, "program");
    spec.library_path = flag_field(json, "library_path");
    spec.plan = object_field(json, "plan");
    spec.backend = text_field(json, "backend");
    spec.grace_s = std::clamp(number_field(json, "grace_s", 2), 0.0, 600.0);
    spec.saves = flag_field(json, "saves");
    spec.start_facts = object_field(json, "start_facts");
    FOURFOLD_CHECK(read_node_settings(json, spec));
    if (!is_run_id(spec.run))
        return bad("run is not a run id");
    if (spec.node < 0 || spec.nodes < 1 || spec.node >= spec.nodes)
        return bad("node is not within nodes");
    std::set<int> seen;
    for (const Json& item : array_field(json, "ranks")) {
        RankPlace place{static_cast<int>(integer_field(item, "rank", -1)),
            static_cast<int>(integer_field(item, "local_rank", -1)), object_field(item, "coordinates")};
        if (place.rank < 0 || place.rank >= spec.world_size || place.local_rank < 0 || !seen.insert(place.rank).second)
            return bad("a rank is outside the job or named twice");
        spec.ranks.push_back(std::move(place));
    }
    if (spec.ranks.empty() || spec.ranks.size() > 4096)
        return bad("a node needs 1 to 4096 ranks");
    bool has_program = false;
    for (const Json& item : array_field(json, "files")) {
        RunFile file{text_field(item, "name"), text_field(item, "sha256"),
            static_cast<uint64_t>(std::max<int64_t>(0, integer_field(item, "size"))), text_field(item, "in_place")};
        if (!is_plain_relative_path(file.name))
            return bad("\"" + file.name + "\" is not a plain relative path");
        if (!file.sha256.empty() && !is_sha256(file.sha256))
            return bad("the hash of " + file.name + " is not SHA-256");
        if (file.sha256.empty() && file.in_place.empty())
            return bad(file.name + " has neither a hash nor a place");
        if (!file.in_place.empty() && file.in_place[0] != '/')
            return bad("the place of " + file.name + " is not an absolute path");
        has_program = has_program || file.name == spec.program;
        spec.files.push_back(std::move(file));
    }
    if (!has_program)
        return bad("program is not one of the files");
    for (const auto& [key, value] : object_field(json, "environment").items()) {
        if (!value.is_string())
            return bad("the variable " + key + " is not text");
        spec.environment[key] = value.get<std::string>();
    }
    FOURFOLD_CHECK(check_environment(spec.environment, "spec.environment"));
    return spec;
}

} // namespace fourfold
