// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/release.h"
#include "core/stack/stack.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

namespace fourfold {

namespace {

std::vector<long> numbers_of(const std::string& release)
{
    std::vector<long> numbers;
    for (const char* at = release.c_str(); *at != 0;) {
        if (std::isdigit(static_cast<unsigned char>(*at)) == 0) {
            ++at;
            continue;
        }
        char* end = nullptr;
        numbers.push_back(std::strtol(at, &end, 10));
        at = end;
    }
    return numbers;
}

// Months since 2000 of a release that is named by year and month; no year is as low as a version's number.
std::optional<long> month_of(const std::string& release)
{
    constexpr long kCentury = 2000, kFirstYear = 15, kLastYear = 99, kMonths = 12;
    const std::vector<long> numbers = numbers_of(release);
    if (numbers.size() < 2)
        return std::nullopt;
    const long year = numbers[0] >= kCentury ? numbers[0] - kCentury : numbers[0], month = numbers[1];
    const bool is_date = year >= kFirstYear && year <= kLastYear && month >= 1 && month <= kMonths;
    return is_date ? std::optional(year * kMonths + month) : std::nullopt;
}

const Release* release_called(const std::vector<Release>& releases, const std::string& name)
{
    const auto found = std::ranges::find(releases, name, &Release::name);
    return found == releases.end() ? nullptr : &*found;
}

} // namespace

WrittenStack written_stack(const std::string& text)
{
    const auto at = text.find('@');
    return at == std::string::npos ? WrittenStack{text, ""}
                                   : WrittenStack{text.substr(0, at), release_name(text.substr(at + 1))};
}

std::string release_name(const std::string& printed)
{
    const bool marked = printed.size() > 1 && (printed[0] == 'v' || printed[0] == 'V')
        && std::isdigit(static_cast<unsigned char>(printed[1])) != 0;
    return marked ? printed.substr(1) : printed;
}

bool is_release_name(const std::string& name)
{
    constexpr std::size_t kMost = 100;
    return !name.empty() && name.size() <= kMost && std::ranges::all_of(name, [](unsigned char c) {
        return (c < 0x80 && std::isalnum(c) != 0) || c == '.' || c == '-' || c == '_';
    });
}

bool is_earlier_release(const std::string& a, const std::string& b)
{
    return numbers_of(a) < numbers_of(b);
}

const Release* nearest_release(const std::vector<Release>& releases, const std::string& name)
{
    if (releases.empty())
        return nullptr;
    if (const Release* same = release_called(releases, name))
        return same;
    if (numbers_of(name).empty())
        return &releases.back();
    const auto after
        = std::ranges::find_if(releases, [&](const Release& one) { return is_earlier_release(name, one.name); });
    if (after == releases.begin())
        return &releases.front();
    const Release& before = *(after - 1);
    if (after == releases.end())
        return &before;
    const auto from = month_of(before.name), at = month_of(name), to = month_of(after->name);
    const bool later_is_nearer = from && at && to && *to - *at < *at - *from;
    return later_is_nearer ? &*after : &before;
}

Json& release_entry(Json& preset, const std::string& name)
{
    Json& list = preset["releases"];
    for (Json& entry : list) {
        if (entry.is_object() && entry.contains("name") && entry["name"] == name)
            return entry;
    }
    list.push_back({{"name", name}});
    return list.back();
}

void Stack::use_release(const std::string& named)
{
    release = named;
    const Release* used = nearest_release(releases, named);
    if (used == nullptr)
        return;
    for (const auto& [gpu, fitted] : used->gpu_constants) {
        for (const auto& [constant, value] : fitted)
            gpu_constants[gpu][constant] = value;
    }
    for (const auto& [gpu, domain] : used->measured)
        measured[gpu] = domain;
}

std::string Stack::written() const
{
    return release.empty() ? id : id + "@" + release;
}

std::string Stack::full_name() const
{
    const std::string& called = name.empty() ? id : name;
    return release.empty() ? called : called + ", release " + release;
}

bool Stack::release_measured(const std::string& gpu_id) const
{
    if (release.empty())
        return true;
    const Release* known = release_called(releases, release);
    return known != nullptr && (known->gpus.empty() || known->gpus.contains(gpu_id));
}

std::string Stack::unknown_release() const
{
    const Release* nearest = nearest_release(releases, release);
    if (release.empty() || (nearest != nullptr && nearest->name == release))
        return "";
    const std::string start = "release " + release + " of stack " + id + " is not known: ";
    if (nearest == nullptr)
        return start + "the stack tells nothing of releases, and is predicted as without one";
    return start + "predicted as " + nearest->name + ", the nearest that is";
}

} // namespace fourfold
