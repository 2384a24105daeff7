// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/prediction.h"
#include "core/search/fields.h"
#include "tests/core/search/search_plans.h"

#include <cmath>
#include <set>

namespace fourfold {
namespace {

double value_of(const std::string& text, const PlanValues& values)
{
    const auto expression = parse_expression(text, ValueKind::number, plan_field_set(), "test");
    EXPECT_TRUE(expression) << text;
    return expression ? expression->value(values) : std::nan("");
}

TEST(PlanFields, NamesAreUniqueAndInTheOrderOfTheirSlots)
{
    const auto& fields = plan_field_set().fields();
    ASSERT_EQ(fields.size(), kPlanFields);
    std::set<std::string> names;
    for (const ExpressionField& field : fields) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        for (const std::string& alias : field.aliases)
            EXPECT_TRUE(names.insert(alias).second) << alias;
        EXPECT_FALSE(field.meaning.empty()) << field.name;
    }
    EXPECT_EQ(fields[slot(PlanField::gpus)].name, "gpus");
    EXPECT_EQ(fields[slot(PlanField::schedule)].name, "schedule");
    EXPECT_EQ(fields[slot(PlanField::parameters)].name, "parameters");
    EXPECT_EQ(fields[slot(PlanField::step_time_s)].name, "step_time_s");
    EXPECT_EQ(fields[slot(PlanField::energy_mwh)].name, "energy_mwh");
}

TEST(PlanFields, CarryThePlanAndItsPrediction)
{
    ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    const Prediction prediction = predict(plan);
    ASSERT_TRUE(prediction.step_time_s);
    PlanValues values{};
    fill_layout(values, plan);
    EXPECT_EQ(value_of("gpus / nodes", values), 8);
    EXPECT_EQ(value_of("layers", values), 32);
    EXPECT_EQ(value_of("heads / kv_heads", values), 4);
    EXPECT_EQ(value_of("gbs * seq_len - tokens_per_step", values), 0);
    EXPECT_TRUE(std::isnan(value_of("step_time_s", values)));
    EXPECT_TRUE(constraint("schedule == 1f1b and order == tp-cp-pp-dp and sequence_parallel").holds(values));
    fill_figures(values, plan,
        {*prediction.step_time_s, *prediction.memory_gib, *prediction.memory_device_gib, prediction.fit}, {1e12, 2.5});
    EXPECT_DOUBLE_EQ(value_of("tps_per_gpu", values), *prediction.tps_per_gpu);
    EXPECT_NEAR(value_of("mfu", values), *prediction.mfu, 1e-12);
    EXPECT_NEAR(value_of("tflops_per_gpu", values), *prediction.tflops_per_gpu, 1e-9);
    EXPECT_DOUBLE_EQ(value_of("memory_gib", values), *prediction.memory_gib);
    const double hours = 1e12 / (*prediction.tps_per_gpu * 16) / 3600;
    EXPECT_NEAR(value_of("days", values), hours / 24, 1e-9 * hours);
    EXPECT_NEAR(value_of("cost", values), hours * 16 * 2.5, 1e-9 * hours * 40);
    EXPECT_NEAR(value_of("energy_mwh", values), hours * 16 * 700 / 1e6, 1e-6);
}

TEST(PlanFields, TellWhichExpressionsNeedAPrediction)
{
    EXPECT_TRUE(needs_only_layout(constraint("dp % 4 == 0 and layers / pp >= 2")));
    EXPECT_TRUE(needs_only_layout(constraint("true")));
    EXPECT_FALSE(needs_only_layout(constraint("dp == 1 or memory_gib < 70")));
}

TEST(PlanFields, ChinchillaIsTwentyTokensAParameter)
{
    // Table 3 of the paper: 67 billion parameters, 1.5 trillion tokens; 20 a parameter is its usual rounding.
    ModelShape model = search_plan("llama-3.1-8b", "dgx-h100", 8, 8).model;
    EXPECT_NEAR(chinchilla_tokens(model), 20 * 8.03e9, 0.01 * 20 * 8.03e9);
}

} // namespace
} // namespace fourfold
