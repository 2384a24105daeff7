// SPDX-License-Identifier: GPL-3.0-or-later
// Damaged plan files always end in a value or a Problem. FOURFOLD_FUZZ_COUNT and FOURFOLD_FUZZ_SEED choose how many
// plans and which; a failure prints the seed of its plan.
#include "core/base/text.h"
#include "example_plans.h"
#include "mutations.h"
#include "support.h"

#include <cstdlib>

namespace fourfold::test {
namespace {

unsigned long long setting(const char* name, unsigned long long fallback)
{
    const char* text = std::getenv(name);
    return text && *text ? std::strtoull(text, nullptr, 10) : fallback;
}

// Everything that a front end does with a plan.
void exercise(const std::string& text, int& planned, int& refused)
{
    Expected<Plan> plan = parse_plan(text, "fuzz.plan.json");
    Expected<ResolvedPlan> out = plan ? resolve(*plan, presets()) : Expected<ResolvedPlan>(plan.error());
    if (!out) {
        ++refused;
        const Problem& problem = out.error();
        EXPECT_FALSE(problem.message.empty());
        EXPECT_NE(problem.line().find("fuzz.plan.json"), std::string::npos) << problem.line();
        EXPECT_EQ(problem.line().find('\n'), std::string::npos);
        EXPECT_TRUE(is_utf8(problem.line())) << problem.line();
        EXPECT_EQ(problem.exit_status(), 2) << problem.line();
        return;
    }
    ++planned;
    const Json written = to_json(*out, PresetStyle::inlined);
    const Expected<ResolvedPlan> again = read_resolved(written, "again");
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(to_json(*again, PresetStyle::inlined), written);
    EXPECT_EQ(plan_hash(*again), plan_hash(*out));
    const std::vector<Reason> reasons = check(*out);
    EXPECT_EQ(check(*again), reasons);
    for (const Reason& reason : reasons) {
        EXPECT_FALSE(reason.code.empty() || reason.field.empty() || reason.message.empty());
        if (reason.nearest.empty())
            continue;
        const Expected<Plan> mended = with_field(*plan, reason.field, reason.nearest);
        ASSERT_TRUE(mended) << mended.error().line();
        const Expected<ResolvedPlan> mended_out = resolve(*mended, presets());
        ASSERT_TRUE(mended_out) << reason.field << " = " << reason.nearest << ": " << mended_out.error().line();
        for (const Reason& left : check(*mended_out))
            EXPECT_FALSE(left.code == reason.code && left.field == reason.field)
                << reason.message << " -> " << left.message;
    }
    EXPECT_TRUE(parse_plan(to_text(*plan), "text"));
}

TEST(Fuzz, DamagedBytes)
{
    const auto seed = setting("FOURFOLD_FUZZ_SEED", 1);
    const auto count = setting("FOURFOLD_FUZZ_COUNT", 4000);
    int planned = 0, refused = 0;
    for (unsigned long long i = 0; i < count && !HasFailure(); ++i) {
        SCOPED_TRACE("FOURFOLD_FUZZ_SEED=" + std::to_string(seed + i));
        Random random(seed + i);
        exercise(damaged_bytes(below(random, 2) == 0 ? kEverything : to_text(base_plan()), random), planned, refused);
    }
    if (count >= 1000) {
        EXPECT_GT(planned, 0);
        EXPECT_GT(refused, 0);
    }
}

TEST(Fuzz, DamagedStructure)
{
    const auto seed = setting("FOURFOLD_FUZZ_SEED", 1);
    const auto count = setting("FOURFOLD_FUZZ_COUNT", 4000);
    const Json everything = must(parse_json(kEverything, "all"));
    int planned = 0, refused = 0;
    for (unsigned long long i = 0; i < count && !HasFailure(); ++i) {
        SCOPED_TRACE("FOURFOLD_FUZZ_SEED=" + std::to_string(seed + i));
        Random random(seed + i);
        Json document = everything;
        for (std::size_t edits = 1 + below(random, 3); edits > 0; --edits)
            damage_structure(document[below(random, 4) == 0 ? "training" : "layout"], random);
        if (below(random, 4) == 0)
            damage_structure(document, random);
        exercise(document.dump(), planned, refused);
    }
    if (count >= 1000) {
        EXPECT_GT(planned, static_cast<int>(count / 50));
        EXPECT_GT(refused, static_cast<int>(count / 50));
    }
}

TEST(Fuzz, DamagedEdits)
{
    const auto seed = setting("FOURFOLD_FUZZ_SEED", 1);
    const auto count = setting("FOURFOLD_FUZZ_COUNT", 4000);
    const Plan plan = must(parse_plan(kEverything, "all"));
    for (unsigned long long i = 0; i < count && !HasFailure(); ++i) {
        SCOPED_TRACE("FOURFOLD_FUZZ_SEED=" + std::to_string(seed + i));
        Random random(seed + i);
        std::string assignment = "layout.tp=2";
        if (below(random, 2) == 0)
            assignment = "run.data.0.range=[0.25,0.5]";
        const Expected<Plan> edited = with_assignment(plan, damaged_bytes(assignment, random));
        if (edited) {
            EXPECT_TRUE(is_utf8(to_text(*edited)));
            EXPECT_TRUE(parse_plan(to_text(*edited), "again"));
        } else {
            EXPECT_TRUE(is_utf8(edited.error().line())) << edited.error().line();
            EXPECT_EQ(edited.error().exit_status(), 2);
        }
    }
}

TEST(Fuzz, HostileTexts)
{
    std::string deep_lists, deep_objects, many_keys = "{", long_list = "{\"layout\":{\"stage_layers\":[";
    for (int i = 0; i < 200000; ++i) {
        deep_lists += '[';
        deep_objects += "{\"a\":";
        many_keys += "\"k" + std::to_string(i) + "\":1,";
        long_list += "1,";
    }
    const std::string long_text(1 << 20, 'x');
    int planned = 0, refused = 0;
    for (const std::string& text : {deep_lists, deep_objects, many_keys + "\"gpus\":1}",
             long_list + "1]},\"model\":\"small\",\"cluster\":\"modern\",\"gpus\":1}", std::string(17u << 20, ' '),
             "{\"model\":\"" + long_text + "\",\"cluster\":\"modern\",\"gpus\":1}", std::string(), std::string("\0", 1),
             std::string("\xef\xbb\xbf{}"), std::string("{\"gpus\":1,\"gpus\":2}"), std::string("{\"gpus\":NaN}"),
             std::string("{\"gpus\":1e999}"), std::string("{\"gpus\":Infinity}"),
             std::string("{\"model\":\"\xff\",\"cluster\":\"modern\",\"gpus\":1}")})
        exercise(text, planned, refused);
    EXPECT_EQ(planned, 1); // the long list breaks a rule, but resolves
}

} // namespace
} // namespace fourfold::test
