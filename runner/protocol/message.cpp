// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/message.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

namespace fourfold {

namespace {
constexpr std::array<std::pair<ProblemCode, const char*>, 9> kCodes{{
    {ProblemCode::bad_input, "bad_input"},
    {ProblemCode::not_found, "not_found"},
    {ProblemCode::unsupported, "unsupported"},
    {ProblemCode::io, "io"},
    {ProblemCode::network, "network"},
    {ProblemCode::refused, "refused"},
    {ProblemCode::conflict, "conflict"},
    {ProblemCode::cancelled, "cancelled"},
    {ProblemCode::failed, "failed"},
}};

const Json* find(const Json& json, const char* key)
{
    if (!json.is_object())
        return nullptr;
    const auto at = json.find(key);
    return at == json.end() ? nullptr : &*at;
}
} // namespace

std::string to_wire(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_field(const Json& json, const char* key, std::string fallback)
{
    const Json* value = find(json, key);
    return value && value->is_string() ? value->get<std::string>() : std::move(fallback);
}

int64_t integer_field(const Json& json, const char* key, int64_t fallback)
{
    const Json* value = find(json, key);
    return value && value->is_number_integer() ? value->get<int64_t>() : fallback;
}

double number_field(const Json& json, const char* key, double fallback)
{
    const Json* value = find(json, key);
    return value && value->is_number() ? value->get<double>() : fallback;
}

bool flag_field(const Json& json, const char* key, bool fallback)
{
    const Json* value = find(json, key);
    return value && value->is_boolean() ? value->get<bool>() : fallback;
}

const Json& object_field(const Json& json, const char* key)
{
    static const Json none = Json::object();
    const Json* value = find(json, key);
    return value && value->is_object() ? *value : none;
}

const Json& array_field(const Json& json, const char* key)
{
    static const Json none = Json::array();
    const Json* value = find(json, key);
    return value && value->is_array() ? *value : none;
}

Json error_reply(const Problem& problem)
{
    const auto at = std::find_if(kCodes.begin(), kCodes.end(), [&](const auto& c) { return c.first == problem.code; });
    return {{"is", "error"}, {"code", at == kCodes.end() ? "failed" : at->second}, {"message", problem.message},
        {"hint", problem.hint}, {"where", problem.where}};
}

Problem problem_from_reply(const Json& reply, const std::string& host)
{
    Problem problem;
    const std::string code = text_field(reply, "code");
    for (const auto& [value, spelling] : kCodes) {
        if (code == spelling)
            problem.code = value;
    }
    problem.message = text_field(reply, "message", "the agent reports an error without a message");
    problem.hint = text_field(reply, "hint");
    const std::string where = text_field(reply, "where");
    problem.where = where.empty() || where == host ? host : host.empty() ? where : host + ": " + where;
    return problem;
}

std::string utc_now()
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    tm parts{};
    gmtime_r(&now.tv_sec, &parts);
    char out[128];
    std::snprintf(out, sizeof out, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", parts.tm_year + 1900, parts.tm_mon + 1,
        parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1000000);
    return out;
}

int64_t seq_of_line(std::string_view line)
{
    constexpr std::string_view kKey = "{\"seq\":";
    if (!line.starts_with(kKey) || line.size() <= kKey.size())
        return -1;
    int64_t seq = 0;
    std::size_t at = kKey.size();
    for (; at < line.size() && line[at] >= '0' && line[at] <= '9'; ++at) {
        if (seq > (int64_t(1) << 52))
            return -1;
        seq = seq * 10 + (line[at] - '0');
    }
    return at > kKey.size() && at < line.size() && (line[at] == ',' || line[at] == '}') ? seq : -1;
}

bool is_run_id(std::string_view text)
{
    return !text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    });
}

bool is_sha256(std::string_view text)
{
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
}

bool is_plain_relative_path(std::string_view text)
{
    if (text.empty() || text.size() > 512)
        return false;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find('/', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        if (part.empty() || part == "." || part == "..")
            return false;
        begin = end + 1;
    }
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

} // namespace fourfold
