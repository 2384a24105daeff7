// SPDX-License-Identifier: GPL-3.0-or-later
// resources/schemas/plan.schema.json and the parser describe the same format.
#include "core/plan/fields.h"
#include "example_plans.h"
#include "mutations.h"
#include "schema_checker.h"
#include "support.h"

#include <cstdlib>

namespace fourfold::test {
namespace {

const Json& schema()
{
    static const Json kSchema = must(read_json_file(FOURFOLD_SOURCE_DIR "/resources/schemas/plan.schema.json"));
    return kSchema;
}

// FOURFOLD_UPDATE_SCHEMA=1 writes the file anew.
TEST(PlanSchema, IsTheTableOfFields)
{
    const std::string file = FOURFOLD_SOURCE_DIR "/resources/schemas/plan.schema.json";
    const std::string text = plan_schema().dump(2) + "\n";
    if (std::getenv("FOURFOLD_UPDATE_SCHEMA") != nullptr) {
        ASSERT_TRUE(write_file_atomically(file, text));
    }
    EXPECT_EQ(text, must(read_text_file(file))) << "run this test with FOURFOLD_UPDATE_SCHEMA=1";
}

void expect_known_keywords(const Json& node)
{
    for (const auto& [key, value] : node.items()) {
        EXPECT_TRUE(schema_keywords().contains(key)) << key;
        if (key == "properties") {
            for (const auto& [name, child] : value.items())
                expect_known_keywords(child);
        } else if (key == "items" || key == "additionalProperties") {
            expect_known_keywords(value);
        }
    }
}

TEST(PlanSchema, UsesWhatTheCheckerKnows)
{
    expect_known_keywords(schema());
}

TEST(PlanSchema, AcceptsTheExamples)
{
    for (const char* text : {kExample, kEverything})
        EXPECT_TRUE(matches(schema(), must(parse_json(text, "example"))));
    EXPECT_TRUE(matches(schema(), base_plan().document));
    for (const char* model : {"small", "experts"})
        for (const PresetStyle style : {PresetStyle::ids, PresetStyle::inlined})
            EXPECT_TRUE(matches(schema(), to_json(resolved(base_plan(model)), style))) << model;
}

// What the schema accepts, the parser accepts, and the other way round. Rules that a schema cannot state (begin below
// end) and objects that other parts of the program read (model, stack) stay out of the comparison.
TEST(PlanSchema, AgreesWithTheParserOnDamagedPlans)
{
    const Json everything = must(parse_json(kEverything, "example"));
    int accepted = 0, refused = 0;
    for (unsigned seed = 0; seed < 4000; ++seed) {
        Random random(seed);
        Json document = everything;
        for (const char* section : {"layout", "training", "run", "cluster"}) {
            if (below(random, 2) == 0)
                damage_structure(document[section], random);
        }
        const bool in_schema = matches(schema(), document);
        const Expected<Plan> plan = plan_from_json(document, "p");
        const Expected<ResolvedPlan> out = plan ? resolve(*plan, presets()) : Expected<ResolvedPlan>(plan.error());
        std::string problem = out ? "" : out.error().line();
        bool by_parser = out.has_value();
        for (const char* beyond_schema : {"begin below end", "at most bandwidth_gb_s", "no cluster preset",
                 "no gpu preset", "model chunks", "1048576 GPUs", "global batch would be", "at least one of bf16",
                 "rack: bandwidth_gb_s", "product is gpus_per_node"})
            by_parser = by_parser || problem.find(beyond_schema) != std::string::npos;
        if (by_parser && !out && !in_schema)
            continue; // damaged twice: the parser tells the first only
        if (in_schema != by_parser)
            ADD_FAILURE() << "seed " << seed << ": schema " << in_schema << ", parser: " << problem << "\n"
                          << document.dump();
        ++(in_schema ? accepted : refused);
    }
    EXPECT_GT(accepted, 200);
    EXPECT_GT(refused, 200);
}

} // namespace
} // namespace fourfold::test
