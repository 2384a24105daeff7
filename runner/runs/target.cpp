// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/target.h"

#include "core/base/text.h"
#include "core/plan/presets.h"
#include "runner/protocol/message.h"
#include "runner/protocol/run_spec.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace fourfold {

namespace {

Problem bad(const std::string& where, std::string message, std::string hint = {})
{
    return {ProblemCode::bad_input, std::move(message), std::move(hint), where};
}

bool all_of_set(const std::string& text, std::string_view more)
{
    return std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
            || more.find(c) != std::string_view::npos;
    });
}

// Names reach SSH libraries, configuration patterns and messages: only characters that mean nothing to any of them.
Expected<void> check_host(const TargetHost& host, const std::string& where)
{
    if (host.address.empty() || host.address.size() > 255 || host.address[0] == '-'
        || !all_of_set(host.address, "._-:"))
        return bad(where, in_quotes(host.address) + " is not a host name or address",
            "letters, digits, '.', '-', '_' and ':' only");
    if (host.user.size() > 64 || (!host.user.empty() && host.user[0] == '-') || !all_of_set(host.user, "._-"))
        return bad(where, in_quotes(host.user) + " is not a user name", "letters, digits, '.', '-' and '_' only");
    if (host.port < 0 || host.port > 65535)
        return bad(where, "the port " + std::to_string(host.port) + " is outside 1 to 65535");
    if (host.ranks < 0)
        return bad(where, "ranks must not be negative");
    if (!host.node_address.empty()) {
        unsigned char raw[16];
        if (inet_pton(AF_INET, host.node_address.c_str(), raw) != 1
            && inet_pton(AF_INET6, host.node_address.c_str(), raw) != 1)
            return bad(where, "node_address " + in_quotes(host.node_address) + " is not a numeric address");
    }
    return {};
}

// "[user@]host[:port]"; an IPv6 address stands in brackets.
Expected<TargetHost> host_from_text(const std::string& text, const std::string& where)
{
    TargetHost host;
    std::string rest = text;
    if (const std::size_t at = rest.find('@'); at != std::string::npos) {
        host.user = rest.substr(0, at);
        rest = rest.substr(at + 1);
        if (host.user.empty())
            return bad(where, in_quotes(text) + " has no user before the @");
    }
    std::string port;
    if (rest.starts_with('[')) {
        const std::size_t end = rest.find(']');
        if (end == std::string::npos)
            return bad(where, in_quotes(text) + " lacks a closing bracket");
        host.address = rest.substr(1, end - 1);
        port = rest.substr(end + 1);
    } else {
        const std::size_t colon = rest.find(':');
        host.address = rest.substr(0, colon);
        port = colon == std::string::npos ? "" : rest.substr(colon);
    }
    if (!port.empty()) {
        const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), host.port);
        if (port[0] != ':' || error != std::errc{} || end != port.data() + port.size() || host.port < 1)
            return bad(where, in_quotes(text) + " has no valid port after the colon", "as in user@host:2222");
    }
    FOURFOLD_CHECK(check_host(host, where));
    return host;
}

Expected<void> check_keys(const Json& json, const std::set<std::string>& known, const std::string& where)
{
    for (const auto& [key, value] : json.items()) {
        if (!known.contains(key))
            return bad(where, "the key " + in_quotes(key) + " is not known",
                "expected one of " + joined({known.begin(), known.end()}, ", "));
    }
    return {};
}

Expected<void> check_type(const Json& json, const char* key, bool right, const char* expected, const std::string& where)
{
    if (json.contains(key) && !right)
        return bad(where, std::string(key) + " must be " + expected);
    return {};
}

Expected<TargetHost> host_from_json(const Json& json, const std::string& where)
{
    if (json.is_string())
        return host_from_text(json.get<std::string>(), where);
    if (!json.is_object())
        return bad(where, "a host must be an object or text like \"user@host:22\"");
    FOURFOLD_CHECK(check_keys(json, {"address", "user", "port", "key_file", "node_address", "ranks"}, where));
    for (const char* key : {"address", "user", "key_file", "node_address"})
        FOURFOLD_CHECK(check_type(json, key, json.contains(key) && json[key].is_string(), "text", where));
    for (const char* key : {"port", "ranks"})
        FOURFOLD_CHECK(
            check_type(json, key, json.contains(key) && json[key].is_number_integer(), "a whole number", where));
    TargetHost host{text_field(json, "address"), text_field(json, "user"),
        static_cast<int>(integer_field(json, "port")), text_field(json, "key_file"), text_field(json, "node_address"),
        static_cast<int>(integer_field(json, "ranks"))};
    FOURFOLD_CHECK(check_host(host, where));
    return host;
}

// Goes into a remote path: spelled so that no shell and no tool finds a meaning in it.
Expected<void> check_base(const std::string& base, const std::string& where)
{
    if (base.empty())
        return {};
    const bool anchored = base[0] == '/' || base.starts_with("~/");
    const std::string rest = base[0] == '~' ? base.substr(1) : base;
    if (!anchored || base.size() > 512 || !all_of_set(rest, "/_.-") || rest.find("..") != std::string::npos)
        return bad(where, "base_folder " + in_quotes(base) + " cannot be used",
            "begin it with / or ~/ and use letters, digits, '/', '_', '.' and '-' only");
    return {};
}

Expected<Target> ad_hoc(const std::string& text)
{
    Target target;
    target.id = text;
    target.kind = TargetKind::ssh;
    std::string user;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        FOURFOLD_TRY(TargetHost host, host_from_text(text.substr(begin, end - begin), "--target"));
        user = host.user.empty() ? user : host.user;
        host.user = user;
        target.hosts.push_back(std::move(host));
        begin = end + 1;
    }
    return target;
}

} // namespace

Expected<Target> target_from_json(const Json& json, const std::string& where)
{
    if (!json.is_object())
        return bad(where, "a target must be an object");
    FOURFOLD_CHECK(check_keys(json,
        {"fourfold_target", "id", "name", "kind", "hosts", "base_folder", "backend", "environment", "connect_timeout_s",
            "stop_grace_s", "reuse_files"},
        where));
    for (const char* key : {"id", "name", "kind", "base_folder", "backend"})
        FOURFOLD_CHECK(check_type(json, key, json.contains(key) && json[key].is_string(), "text", where));
    for (const char* key : {"connect_timeout_s", "stop_grace_s"})
        FOURFOLD_CHECK(check_type(json, key, number_field(json, key, -1) >= 0, "a number of seconds", where));
    FOURFOLD_CHECK(check_type(
        json, "reuse_files", json.contains("reuse_files") && json["reuse_files"].is_boolean(), "true or false", where));
    FOURFOLD_CHECK(check_type(json, "hosts", json.contains("hosts") && json["hosts"].is_array(), "a list", where));
    FOURFOLD_CHECK(check_type(
        json, "environment", json.contains("environment") && json["environment"].is_object(), "an object", where));
    Target target;
    target.id = text_field(json, "id", where);
    const std::string kind = text_field(json, "kind", json.contains("hosts") ? "ssh" : "local");
    if (kind != "ssh" && kind != "local")
        return bad(where, "kind " + in_quotes(kind) + " is not known", "expected local or ssh");
    target.kind = kind == "ssh" ? TargetKind::ssh : TargetKind::local;
    for (const Json& item : array_field(json, "hosts")) {
        FOURFOLD_TRY(
            TargetHost host, host_from_json(item, where + ": hosts[" + std::to_string(target.hosts.size()) + "]"));
        target.hosts.push_back(std::move(host));
    }
    if (target.kind == TargetKind::ssh && target.hosts.empty())
        return bad(where, "hosts is missing or empty", "list the hosts, as in \"user@node1\"");
    if (target.kind == TargetKind::local && target.hosts.size() > 1)
        return bad(where, "a local target has one host");
    if (target.kind == TargetKind::local && target.hosts.empty())
        target.hosts.emplace_back().address = "127.0.0.1";
    target.base_folder = text_field(json, "base_folder");
    FOURFOLD_CHECK(check_base(target.base_folder, where));
    target.backend = text_field(json, "backend");
    if (!target.backend.empty() && target.backend != "gloo" && target.backend != "nccl")
        return bad(where, "backend " + in_quotes(target.backend) + " is not known", "expected gloo or nccl");
    for (const auto& [key, value] : object_field(json, "environment").items()) {
        if (!value.is_string())
            return bad(where, "environment." + key + " must be text");
        target.environment[key] = value.get<std::string>();
    }
    FOURFOLD_CHECK(check_environment(target.environment, where + ": environment"));
    target.connect_timeout_s = std::clamp(number_field(json, "connect_timeout_s", 10), 0.1, 600.0);
    target.stop_grace_s = std::clamp(number_field(json, "stop_grace_s", 2), 0.0, 600.0);
    target.reuse_files = flag_field(json, "reuse_files", true);
    return target;
}

Json to_json(const Target& target)
{
    Json hosts = Json::array();
    for (const TargetHost& host : target.hosts)
        hosts.push_back({{"address", host.address}, {"user", host.user}, {"port", host.port},
            {"key_file", host.key_file}, {"node_address", host.node_address}, {"ranks", host.ranks}});
    Json environment = Json::object();
    for (const auto& [key, value] : target.environment)
        environment[key] = value;
    return {{"fourfold_target", 1}, {"id", target.id}, {"kind", target.kind == TargetKind::ssh ? "ssh" : "local"},
        {"hosts", std::move(hosts)}, {"base_folder", target.base_folder}, {"backend", target.backend},
        {"environment", std::move(environment)}, {"connect_timeout_s", target.connect_timeout_s},
        {"stop_grace_s", target.stop_grace_s}, {"reuse_files", target.reuse_files}};
}

Expected<Target> load_target(const std::string& name_or_file)
{
    const bool is_file = name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".json");
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

std::string host_name(const Target& target, std::size_t host)
{
    if (target.kind == TargetKind::local)
        return "this computer";
    const TargetHost& at = target.hosts[host];
    const bool v6 = at.address.find(':') != std::string::npos;
    std::string name = at.user.empty() ? "" : at.user + "@";
    name += v6 && at.port ? "[" + at.address + "]" : at.address;
    return at.port ? name + ":" + std::to_string(at.port) : name;
}

Expected<std::vector<int>> ranks_of_hosts(const Target& target, int gpus)
{
    const auto hosts = static_cast<int>(target.hosts.size());
    std::vector<int> out;
    int given = 0, named = 0;
    for (const TargetHost& host : target.hosts) {
        given += host.ranks;
        named += host.ranks > 0;
    }
    if (named == 0) {
        if (gpus % hosts != 0)
            return bad("target " + target.id,
                "the plan's " + std::to_string(gpus) + " GPUs do not spread evenly over " + std::to_string(hosts)
                    + " hosts",
                "set `ranks` of each host, or change gpus or the number of hosts");
        return std::vector<int>(static_cast<std::size_t>(hosts), gpus / hosts);
    }
    if (named != hosts || given != gpus)
        return bad("target " + target.id,
            "the hosts' ranks add up to " + std::to_string(given) + ", the plan has " + std::to_string(gpus) + " GPUs",
            "give every host its ranks so that they add up");
    for (const TargetHost& host : target.hosts)
        out.push_back(host.ranks);
    return out;
}

} // namespace fourfold
