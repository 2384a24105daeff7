// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/target/target_hosts.h"

#include "core/base/text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace fourfold {

namespace {

constexpr std::size_t kMostHosts = 4096;

Problem bad_host(const std::string& where, std::string message, std::string hint = {})
{
    return {ProblemCode::bad_input, std::move(message), std::move(hint), where};
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_number(const std::string& text)
{
    return !text.empty() && text.size() <= 9 && std::all_of(text.begin(), text.end(), is_digit);
}

// "01-16" -> 01 .. 16 with the width of the first number; "7" -> 7.
Expected<std::vector<std::string>> numbers_of(
    const std::string& part, const std::string& text, const std::string& where)
{
    const std::size_t dash = part.find('-');
    const std::string first = part.substr(0, dash), last = dash == std::string::npos ? first : part.substr(dash + 1);
    if (!is_number(first) || !is_number(last) || std::stol(last) < std::stol(first))
        return bad_host(where, in_quotes(text) + " has no valid range in its brackets", "as in node[01-16,20]");
    if (std::stol(last) - std::stol(first) >= long(kMostHosts))
        return bad_host(where, in_quotes(text) + " is more than " + std::to_string(kMostHosts) + " hosts");
    std::vector<std::string> out;
    for (long number = std::stol(first); number <= std::stol(last); ++number) {
        std::string digits = std::to_string(number);
        if (digits.size() < first.size())
            digits.insert(0, first.size() - digits.size(), '0');
        out.push_back(std::move(digits));
    }
    return out;
}

} // namespace

bool consists_of(const std::string& text, std::string_view more)
{
    return std::all_of(text.begin(), text.end(), [&](char c) {
        return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
            || more.find(c) != std::string_view::npos;
    });
}

Expected<std::vector<std::string>> expand_ranges(const std::string& text, const std::string& where)
{
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']', open == std::string::npos ? 0 : open);
    if (open == std::string::npos
        || (close != std::string::npos && text.substr(open, close - open).find(':') != std::string::npos))
        return std::vector<std::string>{text};
    if (close == std::string::npos)
        return bad_host(where, in_quotes(text) + " lacks a closing bracket");
    FOURFOLD_TRY(const auto rests, expand_ranges(text.substr(close + 1), where));
    std::vector<std::string> out;
    std::size_t begin = open + 1;
    while (begin <= close) {
        const std::size_t end = std::min(text.find(',', begin), close);
        FOURFOLD_TRY(const auto numbers, numbers_of(text.substr(begin, end - begin), text, where));
        for (const std::string& number : numbers) {
            for (const std::string& rest : rests)
                out.push_back(text.substr(0, open) + number + rest);
        }
        if (out.size() > kMostHosts)
            return bad_host(where, in_quotes(text) + " names more than " + std::to_string(kMostHosts) + " hosts");
        begin = end + 1;
    }
    return out;
}

std::vector<std::string> split_hosts(const std::string& text)
{
    std::vector<std::string> out(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c == ',' && depth <= 0)
            out.emplace_back();
        else
            out.back() += c;
    }
    return out;
}

Expected<void> check_place(const SshPlace& place, const std::string& where)
{
    if (place.address.empty() || place.address.size() > 255 || place.address[0] == '-'
        || !consists_of(place.address, "._-:") || place.address.find_first_not_of("._-:") == std::string::npos)
        return bad_host(where, in_quotes(place.address) + " is not a host name or address",
            "letters, digits, '.', '-', '_' and ':' only");
    unsigned char raw[16];
    if (place.address.find(':') != std::string::npos && inet_pton(AF_INET6, place.address.c_str(), raw) != 1)
        return bad_host(where, in_quotes(place.address) + " has a colon and is no IPv6 address",
            "a port has a key of its own, as in \"port\": 2222");
    if (place.user.size() > 64 || (!place.user.empty() && place.user[0] == '-') || !consists_of(place.user, "._-"))
        return bad_host(where, in_quotes(place.user) + " is not a user name", "letters, digits, '.', '-' and '_' only");
    if (place.port < 0 || place.port > 65535)
        return bad_host(where, "the port " + std::to_string(place.port) + " is outside 1 to 65535");
    return {};
}

Expected<void> check_host(const TargetHost& host, const std::string& where)
{
    FOURFOLD_CHECK(check_place(host, where));
    if (host.ranks < 0)
        return bad_host(where, "ranks must not be negative");
    if (!host.node_address.empty()) {
        unsigned char raw[16];
        if (inet_pton(AF_INET, host.node_address.c_str(), raw) != 1
            && inet_pton(AF_INET6, host.node_address.c_str(), raw) != 1)
            return bad_host(where, "node_address " + in_quotes(host.node_address) + " is not a numeric address");
    }
    return {};
}

Expected<SshPlace> place_from_text(const std::string& text, const std::string& where)
{
    SshPlace place;
    std::string rest = text;
    if (const std::size_t at = rest.find('@'); at != std::string::npos) {
        place.user = rest.substr(0, at);
        rest = rest.substr(at + 1);
        if (place.user.empty())
            return bad_host(where, in_quotes(text) + " has no user before the @");
    }
    std::string port;
    if (rest.starts_with('[')) {
        const std::size_t end = rest.find(']');
        if (end == std::string::npos)
            return bad_host(where, in_quotes(text) + " lacks a closing bracket");
        place.address = rest.substr(1, end - 1);
        port = rest.substr(end + 1);
    } else {
        const std::size_t colon = rest.find(':');
        if (colon != std::string::npos && rest.find(':', colon + 1) != std::string::npos)
            return bad_host(where, in_quotes(text) + " has more than one colon",
                "an IPv6 address stands in brackets, as in user@[::1]:2222");
        place.address = rest.substr(0, colon);
        port = colon == std::string::npos ? "" : rest.substr(colon);
    }
    if (!port.empty()) {
        const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), place.port);
        if (port[0] != ':' || error != std::errc{} || end != port.data() + port.size() || place.port < 1)
            return bad_host(where, in_quotes(text) + " has no valid port after the colon", "as in user@host:2222");
    }
    FOURFOLD_CHECK(check_place(place, where));
    return place;
}

bool before_by_name(const std::string& a, const std::string& b)
{
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const std::size_t first_i = a.find_first_not_of('0', i), first_j = b.find_first_not_of('0', j);
            std::size_t end_i = std::min(first_i, a.size()), end_j = std::min(first_j, b.size());
            const std::size_t begin_i = end_i, begin_j = end_j;
            while (end_i < a.size() && is_digit(a[end_i]))
                ++end_i;
            while (end_j < b.size() && is_digit(b[end_j]))
                ++end_j;
            if (end_i - begin_i != end_j - begin_j)
                return end_i - begin_i < end_j - begin_j;
            const int order = a.compare(begin_i, end_i - begin_i, b, begin_j, end_j - begin_j);
            if (order != 0)
                return order < 0;
            i = end_i;
            j = end_j;
        } else if (a[i] != b[j]) {
            return a[i] < b[j];
        } else {
            ++i;
            ++j;
        }
    }
    return a.size() - i < b.size() - j;
}

std::string place_name(const SshPlace& place)
{
    const bool v6 = place.address.find(':') != std::string::npos;
    const std::string name
        = (place.user.empty() ? "" : place.user + "@") + (v6 && place.port ? "[" + place.address + "]" : place.address);
    return place.port ? name + ":" + std::to_string(place.port) : name;
}

std::string host_name(const Target& target, std::size_t host)
{
    if (target.kind == TargetKind::local)
        return "this computer";
    if (target.kind == TargetKind::slurm)
        return "Slurm node " + std::to_string(host);
    const TargetHost& at = target.hosts[host];
    return place_name(at);
}

Expected<std::vector<int>> ranks_of_hosts(const Target& target, int gpus)
{
    const auto bad = [&](std::string message, std::string hint) -> Problem {
        return {ProblemCode::bad_input, std::move(message), std::move(hint), "target " + target.id};
    };
    auto hosts = static_cast<int>(target.hosts.size());
    if (target.kind == TargetKind::slurm) {
        const int per_node = target.slurm->ranks_per_node;
        hosts = target.slurm->nodes > 0 ? target.slurm->nodes : per_node > 0 ? std::max(1, gpus / per_node) : 1;
        if (per_node > 0 && hosts * per_node != gpus)
            return bad("the plan's " + std::to_string(gpus) + " GPUs are not " + std::to_string(hosts) + " nodes with "
                    + std::to_string(per_node) + " ranks",
                "change slurm.nodes, slurm.ranks_per_node or the plan's gpus");
    }
    std::vector<int> out;
    int given = 0, named = 0;
    for (const TargetHost& host : target.hosts) {
        given += host.ranks;
        named += host.ranks > 0;
    }
    if (named == 0) {
        if (gpus % hosts != 0)
            return bad("the plan's " + std::to_string(gpus) + " GPUs do not spread evenly over " + std::to_string(hosts)
                    + " hosts",
                "set `ranks` of each host, or change gpus or the number of hosts");
        return std::vector<int>(static_cast<std::size_t>(hosts), gpus / hosts);
    }
    if (named != hosts)
        return bad(std::to_string(hosts - named) + " of the " + std::to_string(hosts)
                + " hosts have no `ranks`, the others have",
            "give every host at least one rank, or none a number");
    if (given != gpus)
        return bad(
            "the hosts' ranks add up to " + std::to_string(given) + ", the plan has " + std::to_string(gpus) + " GPUs",
            "give every host its ranks so that they add up");
    for (const TargetHost& host : target.hosts)
        out.push_back(host.ranks);
    return out;
}

} // namespace fourfold
