// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/planning/completion_names.h"

#include "app/cli/history/history_view.h"
#include "app/cli/planning/preset_kinds.h"
#include "core/base/text.h"
#include "core/plan/presets.h"
#include "core/report/table/table.h"
#include "core/start/recipe.h"

#include <algorithm>
#include <map>

namespace fourfold::cli {

namespace {
constexpr int kMostRuns = 200; // the newest

const std::map<std::string, std::string> kOfArguments{{"PLAN", "plans"}, {"RUN", "runs"}, {"MODEL", "models"},
    {"TARGET", "targets"}, {"ID", "recipes"}, {"KIND", "kinds"}};
const std::map<std::string, std::string> kOfOptions{{"plan", "plans"}, {"run", "runs"}, {"target", "targets"},
    {"cluster", "clusters"}, {"like", "clusters"}, {"stack", "stacks"}, {"format", "formats"}};

Expected<std::vector<std::string>> newest_runs()
{
    std::vector<std::string> ids;
    FOURFOLD_TRY(const auto store, open_history());
    if (!store)
        return ids;
    FOURFOLD_TRY(const auto newest, store->list(kMostRuns));
    if (!newest.empty())
        ids.emplace_back("last");
    for (const RunSummary& run : newest)
        ids.push_back(run.id);
    return ids;
}

bool is_plain(const std::string& name)
{
    return !name.empty() && std::all_of(name.begin(), name.end(), [](const char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || std::string_view("._@+-").find(c) != std::string_view::npos;
    });
}
} // namespace

std::string completed_kind(const CLI::Option& option)
{
    const auto& lnames = option.get_lnames();
    const auto& kinds = lnames.empty() ? kOfArguments : kOfOptions;
    const auto found = kinds.find(lnames.empty() ? option.get_name(true) : lnames.front());
    return found == kinds.end() ? "" : found->second;
}

const std::vector<std::string>& completed_kinds()
{
    static const std::vector<std::string> kinds{
        "plans", "runs", "models", "gpus", "clusters", "stacks", "targets", "recipes", "kinds", "formats"};
    return kinds;
}

Expected<std::vector<std::string>> completed_names(const std::string& kind)
{
    const Presets presets;
    std::vector<std::string> names;
    if (kind == "runs") {
        FOURFOLD_TRY(names, newest_runs());
    } else if (kind == "recipes")
        names = recipe_ids(presets);
    else if (kind == "formats")
        names = table_format_names();
    else if (kind == "kinds")
        names = preset_kinds();
    else
        names = presets.ids(kind);
    if (kind == "targets")
        names.emplace_back("local");
    std::erase_if(names, [](const std::string& name) { return !is_plain(name); });
    return names;
}

} // namespace fourfold::cli
