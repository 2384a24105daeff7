// SPDX-License-Identifier: GPL-3.0-or-later
// Holds every figure of the score cards that matters to its recorded bound (bounds.json): a change of the model that
// makes one worse fails here. Tables that do not ship are held where a checkout has them beside it.
#include "core/calibration/score_card.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>

namespace fourfold::test {
namespace {

const std::filesystem::path kSource = FOURFOLD_SOURCE_DIR;

Json bounds()
{
    const auto json = read_json_file(std::filesystem::path(FOURFOLD_TEST_DATA) / "bounds.json");
    return json ? *json : Json();
}

std::filesystem::path file_of(const std::string& table)
{
    const auto shipped = kSource / "presets" / "published" / (table + ".csv");
    const auto shared = std::filesystem::path(FOURFOLD_SHARED_DIR) / "published" / (table + ".csv");
    return std::filesystem::exists(shipped) ? shipped : shared;
}

// With the presets of the source tree alone, whatever the user has.
Expected<Json> card_of(const std::string& table)
{
    const auto presets_folder = kSource / "presets";
    FOURFOLD_TRY(const Json sources_json, read_json_file(presets_folder / "published" / "sources.json"));
    FOURFOLD_TRY(const TableSources sources, TableSources::from_json(sources_json, "sources.json"));
    FOURFOLD_TRY(const ScoreCard card, read_score_card(file_of(table), sources, Presets({presets_folder})));
    return to_json(card);
}

const Json* find(const Json& list, const char* key, const std::string& value)
{
    for (const Json& item : list) {
        if (item[key] == value)
            return &item;
    }
    return nullptr;
}

class Bounds : public testing::TestWithParam<std::string> { };

TEST_P(Bounds, NoFigureIsWorseThanRecorded)
{
    const std::string table = GetParam();
    const Json recorded = bounds();
    ASSERT_TRUE(recorded.contains("tables") && recorded["tables"].contains(table));
    const Json& list = recorded["tables"][table];
    ASSERT_FALSE(list.empty());
    if (!std::filesystem::exists(file_of(table)))
        GTEST_SKIP() << table << ".csv is only in ../shared/published, which is not here";
    const auto card = card_of(table);
    ASSERT_TRUE(card) << card.error().line();
    EXPECT_TRUE((*card)["problems"].empty());
    for (const Json& bound : list) {
        SCOPED_TRACE(bound.dump());
        const Json* view = find((*card)["views"], "label", bound["view"]);
        ASSERT_NE(view, nullptr) << "no such view: was the fold set written?";
        EXPECT_FALSE((*view)["stale"].get<bool>()) << "the folds were fitted on another version of the table";
        const Json* part = bound.contains("band") ? find((*view)["coverage"], "name", bound["band"])
                                                  : find((*view)["sections"], "name", bound["section"]);
        ASSERT_NE(part, nullptr);
        const Json& figure = part->at(Json::json_pointer(bound["figure"].get<std::string>()));
        ASSERT_TRUE(figure.is_number());
        std::printf("%-28s %-20s %-16s %-34s %8.4f\n", table.c_str(), bound["view"].get<std::string>().c_str(),
            bound.value("section", bound.value("band", "")).c_str(), bound["figure"].get<std::string>().c_str(),
            figure.get<double>());
        if (bound.contains("at_most")) {
            EXPECT_LE(figure.get<double>(), bound["at_most"].get<double>());
        }
        if (bound.contains("at_least")) {
            EXPECT_GE(figure.get<double>(), bound["at_least"].get<double>());
        }
        EXPECT_TRUE(bound.contains("at_most") || bound.contains("at_least"));
    }
}

std::vector<std::string> tables()
{
    std::vector<std::string> names;
    const Json recorded = bounds();
    for (const auto& [name, list] : recorded["tables"].items())
        names.push_back(name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Tables, Bounds, testing::ValuesIn(tables()), [](const auto& info) { return info.param; });

} // namespace
} // namespace fourfold::test
