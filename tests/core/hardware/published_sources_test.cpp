// SPDX-License-Identifier: GPL-3.0-or-later
// The map from the published tables' `source` and `gpu` columns to cluster and stack presets.
#include "core/base/json.h"
#include "tests/core/model/csv_rows.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace fourfold {
namespace {

namespace fs = std::filesystem;

fs::path presets()
{
    return fs::path(FOURFOLD_SOURCE_DIR) / "presets";
}

Json sources()
{
    auto json = read_json_file(presets() / "published" / "sources.json");
    if (!json) {
        ADD_FAILURE() << json.error().line();
        return Json::object();
    }
    return (*json)["sources"];
}

// Rows of all tables in `folder` that name their hardware; adds what the map lacks to `missing`.
int check_tables(const fs::path& folder, std::set<std::string>& missing)
{
    const Json map = sources();
    int rows = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".csv")
            continue;
        for (const test::Row& row : test::read_csv(entry.path())) {
            if (!row.contains("gpu"))
                break; // a list of facts
            ++rows;
            const std::string source = row.at("source"), gpu = row.at("gpu");
            std::string stack = row.contains("stack") ? row.at("stack") : "";
            if (map.contains(source) && map[source].contains("words") && map[source]["words"].contains("stack"))
                stack = map[source]["words"]["stack"].value(stack, stack);
            if (!map.contains(source) || !map[source]["clusters"].contains(gpu))
                missing.insert(entry.path().filename().string() + ": " + source + " on " + gpu);
            else if (!stack.empty() && map[source]["stack"] != stack)
                missing.insert(entry.path().filename().string() + ": " + source + " with stack " + stack);
        }
    }
    return rows;
}

TEST(PublishedSources, NameExistingClusters)
{
    const Json map = sources();
    EXPECT_EQ(map.size(), 8u);
    for (const auto& [source, entry] : map.items()) {
        EXPECT_FALSE(entry["name"].get<std::string>().empty()) << source;
        EXPECT_FALSE(entry["clusters"].empty()) << source;
        for (const auto& [gpu, cluster] : entry["clusters"].items())
            EXPECT_TRUE(fs::exists(presets() / "clusters" / (cluster.get<std::string>() + ".json")))
                << source << " " << gpu;
    }
}

TEST(PublishedSources, NameExistingStacks)
{
    const Json map = sources();
    for (const auto& [source, entry] : map.items())
        EXPECT_TRUE(fs::exists(presets() / "stacks" / (entry["stack"].get<std::string>() + ".json"))) << source;
}

TEST(PublishedSources, CoverTheShippedTables)
{
    std::set<std::string> missing;
    EXPECT_EQ(check_tables(presets() / "published", missing), 342 + 18 + 116);
    EXPECT_EQ(missing, std::set<std::string>());
}

TEST(PublishedSources, CoverEveryKnownTable)
{
    const fs::path folder = fs::path(FOURFOLD_SHARED_DIR) / "published";
    if (!fs::exists(folder))
        GTEST_SKIP() << "the folder ../shared/published is not here";
    std::set<std::string> missing;
    EXPECT_GE(check_tables(folder, missing), 342 + 18 + 116 + 56 + 55 + 139);
    EXPECT_EQ(missing, std::set<std::string>());
}

} // namespace
} // namespace fourfold
