// SPDX-License-Identifier: GPL-3.0-or-later
// Target files and host lists, whoever wrote them: what is accepted survives its own writing, names nothing that a
// shell could read, and makes a batch script of options only.
#include "core/base/json.h"
#include "runner/runs/slurm_script.h"
#include "runner/target/target.h"
#include "runner/target/target_hosts.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace fourfold;

void must(bool holds)
{
    if (!holds)
        std::abort();
}

void look_at_place(const std::string& address, const std::string& user)
{
    for (const char c : address + user)
        must(std::string_view(" \t\r\n'\"`$;&|<>\\(){}*?!#").find(c) == std::string_view::npos && c != '\0');
    must(!address.starts_with("-") && !user.starts_with("-"));
}

// After the options there is nothing but the one command.
void look_at_script(const std::string& script)
{
    const std::size_t end = script.find("\n\n");
    must(end != std::string::npos && script.find('\0') == std::string::npos && script.find('\r') == std::string::npos);
    for (std::size_t begin = 0; begin < end;) {
        must(script[begin] == '#');
        begin = script.find('\n', begin) + 1;
    }
    must(std::count(script.begin() + static_cast<std::ptrdiff_t>(end), script.end(), '\n') == 5);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const std::string& part : split_hosts(text)) {
        const auto names = expand_ranges(part, "fuzz");
        if (!names)
            continue;
        must(names->size() <= 4096);
        if (const auto place = place_from_text(names->front(), "fuzz"); place && check_place(*place, "fuzz"))
            look_at_place(place->address, place->user);
    }
    const auto json = parse_json(text, "fuzz");
    if (!json)
        return 0;
    const auto target = target_from_json(*json, "fuzz");
    if (!target)
        return 0;
    for (const TargetHost& host : target->hosts) {
        look_at_place(host.address, host.user);
        for (const SshPlace& jump : host.jumps)
            look_at_place(jump.address, jump.user);
    }
    if (target->slurm)
        look_at_script(slurm_script(*target, "01ARZ3NDEKTSV4RRFFQ69G5FAV", 4, true));
    (void)ranks_of_hosts(*target, 8);
    const Json written = to_json(*target);
    const auto again = target_from_json(written, "fuzz");
    must(again && to_json(*again) == written);
    return 0;
}
