// SPDX-License-Identifier: GPL-3.0-or-later
// What window and terminal say of a plan beside its answer: its whole training, how other open plans differ, lists of
// numbers; and what a run's own watch reports.
#include "app/view/plan/edits.h"
#include "app/view/plan/integer_list.h"
#include "app/view/plan/plans_overview.h"
#include "app/view/prediction/whole_training.h"
#include "app/view/runs/run_notices.h"
#include "core/plan/fields.h"
#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

namespace fourfold::view {
namespace {

using testing::HasSubstr;

const TrainingFigure& figure_of(const std::vector<TrainingFigure>& figures, const std::string& key)
{
    return *std::ranges::find_if(figures, [&](const TrainingFigure& figure) { return figure.key == key; });
}

TEST(WholeTraining, SaysWhatIsKnownAndWhatIsLacking)
{
    const ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    const Prediction prediction = predict(plan);
    TrainingBudget budget = budget_of(Plan(), plan);
    std::vector<TrainingFigure> figures = whole_training(prediction, budget);
    EXPECT_THAT(figure_of(figures, "tokens").note, HasSubstr("20 per parameter"));
    EXPECT_EQ(figure_of(figures, "tokens").value, "161 B");
    EXPECT_FALSE(figure_of(figures, "cost").known);
    EXPECT_EQ(figure_of(figures, "cost").note, "not known without the price of a GPU hour");
    EXPECT_THAT(figure_of(figures, "goodput").note, HasSubstr("without failures (of a GPU or a node) and the speed"));
    EXPECT_EQ(figure_of(figures, "days").expected, "");
    budget.price_per_gpu_hour = 2;
    budget.failures_per_gpu_hour = 2e-5;
    EXPECT_EQ(
        figure_of(whole_training(prediction, budget), "goodput").note, "not known without the speed of the storage");
    budget.storage_gb_s = 10;
    figures = whole_training(prediction, budget);
    for (const TrainingFigure& figure : figures) {
        EXPECT_TRUE(figure.known) << figure.key;
        EXPECT_TRUE(explain_training(prediction, budget, figure.key)) << figure.key;
        if (figure.expected_key[0] != '\0') {
            EXPECT_NE(figure.expected, "") << figure.key;
            EXPECT_TRUE(explain_training(prediction, budget, figure.expected_key)) << figure.key;
        }
    }
    EXPECT_THAT(figure_of(figures, "checkpoint_interval_s").note, HasSubstr("Daly 2006"));
    budget.failures_per_gpu_hour = 1e12;
    EXPECT_THAT(figure_of(whole_training(prediction, budget), "days").note, HasSubstr("never ends"));
    for (const TrainingFigure& figure : whole_training(prediction, budget))
        EXPECT_THAT(figure.value + figure.expected + figure.note, testing::Not(HasSubstr("inf"))) << figure.key;
    Prediction unknown = prediction;
    unknown.step_time_s.reset();
    EXPECT_TRUE(whole_training(unknown, budget).empty());
}

TEST(WholeTraining, InputsAreThePlansFieldsAndComeBackAsTheyWereWritten)
{
    Plan plan = *parse_plan(R"({"model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 16})", "plan");
    const ResolvedPlan resolved = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    for (const TrainingInput& input : training_inputs(plan, resolved)) {
        ASSERT_NE(find_field(input.path), nullptr) << input.path;
        EXPECT_EQ(input.written, "") << input.path;
        EXPECT_NE(input.otherwise, "") << input.path;
        const Expected<Json> value = training_value(input.path, "1,250.5");
        const bool fits = std::string(input.path) != "budget.facility_factor"; // at most 1,000
        ASSERT_EQ(value.has_value(), fits) << input.path;
        if (!fits)
            continue;
        const Expected<Plan> changed = with_value(plan, input.path, *value);
        ASSERT_TRUE(changed) << input.path;
        plan = *changed;
    }
    for (const TrainingInput& input : training_inputs(plan, resolved)) {
        if (std::string(input.path) != "budget.facility_factor") {
            EXPECT_EQ(input.written, "1250.5") << input.path;
        }
    }
    const Expected<Plan> taken = with_value(plan, "budget.restart_s", *training_value("budget.restart_s", "  "));
    ASSERT_TRUE(taken);
    EXPECT_FALSE(taken->document["budget"].contains("restart_s"));
}

TEST(WholeTraining, NumbersAreReadAsPeopleTypeThem)
{
    const auto number = [](const char* text) { return training_value("run.tokens", text).value().get<double>(); };
    EXPECT_EQ(number("15e12"), 15e12);
    EXPECT_EQ(number("15 T"), 15e12);
    EXPECT_EQ(number("15T"), 15e12);
    EXPECT_EQ(number("1.5B"), 1.5e9);
    EXPECT_EQ(number("15,000,000"), 15e6);
    EXPECT_EQ(number(" 400 k "), 400e3);
    for (const char* bad : {"many", "T", "1.2.3", "-5", "0", "nan", "inf", "1e400", "1e19", "5 x"}) {
        const Expected<Json> value = training_value("run.tokens", bad);
        ASSERT_FALSE(value) << bad;
        EXPECT_THAT(value.error().line(), HasSubstr("run.tokens")) << bad;
    }
}

TEST(IntegerList, IsWrittenAndReadAlike)
{
    EXPECT_EQ(integer_list_text({10, 10, 11}), "10, 10, 11");
    EXPECT_EQ(integer_list_text({7, 8, 8, 8, 8, 8, 8, 8, 8, 7}), "7, 8 \u00d7 8, 7");
    for (const std::vector<int>& list :
        {std::vector<int>{10, 10, 11}, {7, 8, 8, 8, 8, 8, 8, 8, 8, 7}, {1}, std::vector<int>(64, 2)}) {
        EXPECT_EQ(*parse_integer_list("layout.stage_layers", integer_list_text(list)), Json(list));
    }
    EXPECT_EQ(*parse_integer_list("p", "3 x 10, 11"), Json({10, 10, 10, 11}));
    EXPECT_EQ(*parse_integer_list("p", "[1,2 3]"), Json({1, 2, 3}));
    EXPECT_TRUE(parse_integer_list("p", " ")->is_null());
    for (const char* bad : {"10 layers", "-1", "1.5", "x", "3 x", "99999999999", "9999 x 1", "0 x 4"})
        EXPECT_FALSE(parse_integer_list("p", bad)) << bad;
}

TEST(PlansOverview, NamesWhatDiffersAndWhetherItFits)
{
    ResolvedPlan shown = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    shown.training.sharding = Sharding::parameters;
    shown.training.recompute = Recompute::full;
    ResolvedPlan other = shown;
    other.layout.tp = 2;
    other.layout.dp = 8;
    const ResolvedPlan larger = search_plan("llama-3.1-70b", "dgx-h100", 16, 64);
    const Prediction prediction = predict(shown), does_not_fit = predict(larger);
    std::vector<OpenPlan> open(4);
    open[0] = {"a.plan.json", &shown, &prediction, 0, true, true, false};
    open[1] = {"b.plan.json", &other, nullptr, 0, true, false, true};
    open[2] = {"c.plan.json", &larger, &does_not_fit, 0, true, false, false};
    open[3] = {"broken", &shown, nullptr, 2, false, false, false};
    const std::vector<PlanLine> lines = plans_overview(open);
    EXPECT_EQ(lines[0].differs, "on show");
    EXPECT_EQ(lines[0].verdict.substr(0, 5), "Fits.");
    EXPECT_EQ(lines[1].name, "b.plan.json \u2022");
    EXPECT_EQ(lines[1].differs, "tp 1 -> 2, dp 16 -> 8");
    EXPECT_THAT(lines[2].differs, testing::StartsWith("model Llama 3.1 70B"));
    EXPECT_EQ(lines[2].tone, Tone::bad);
    EXPECT_EQ(lines[3].differs, "the same settings");
    EXPECT_THAT(lines[3].verdict, HasSubstr("2 fields"));
    const Table table = plans_table(lines);
    for (const auto& row : table.rows)
        EXPECT_EQ(row.size(), table.columns.size());
}

TEST(RunAlert, OnlyTheWatchReports)
{
    const Json spike{
        {"event", "warning"}, {"step", 7}, {"message", "the loss stands out"}, {"watch", {{"action", "stop"}}}};
    const auto alert = alert_of(spike);
    ASSERT_TRUE(alert);
    EXPECT_EQ(alert->step, 7);
    EXPECT_EQ(alert->text, "the loss stands out");
    EXPECT_TRUE(alert->stops);
    EXPECT_FALSE(alert_of({{"event", "warning"}, {"message", "the training waited 3 s"}}));
    EXPECT_FALSE(alert_of({{"event", "step"}, {"watch", {{"action", "warn"}}}}));
    EXPECT_FALSE(alert_of({{"event", "warning"}, {"watch", 3}}));
    EXPECT_EQ(alert_of({{"event", "warning"}, {"step", 1e300}, {"watch", Json::object()}})->step, 2'000'000'000);
    EXPECT_TRUE(std::isinf(alert->age_s));
    EXPECT_EQ(alert->time, "");
}

TEST(RunAlert, SaysWhenAndByWhichRule)
{
    const Json spike{{"event", "warning"}, {"step", 1200}, {"message", "the loss 9 stands out"},
        {"time", "2026-01-01T00:00:00.000Z"}, {"watch", {{"action", "warn"}, {"limit", 2.0}}}};
    const auto alert = alert_of(spike);
    ASSERT_TRUE(alert);
    EXPECT_EQ(alert->rule, "run.watch.spike = warn");
    EXPECT_GT(alert->age_s, 3600);
    EXPECT_EQ(alert->time.size(), 8U);
    EXPECT_THAT(alert_line(*alert), testing::EndsWith(" step 1,200, run.watch.spike = warn: the loss 9 stands out"));
    const auto lost = alert_of({{"event", "warning"}, {"watch", {{"action", "skip"}, {"limit", nullptr}}}});
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->rule, "run.watch.not_finite = skip");
}

TEST(RunAlert, OneAMinuteIsToldAndTheOthersAreCounted)
{
    using std::chrono::seconds;
    AlertNotices notices;
    const AlertNotices::Clock::time_point begin{};
    RunAlert alert{12, "the loss 9 stands out", false, "", "", 0};
    const auto first = notices.take(alert, "Tiny", begin);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->title, "Step 12: the loss 9 stands out");
    EXPECT_EQ(first->text, "Tiny");
    EXPECT_FALSE(first->urgent);
    EXPECT_FALSE(notices.take(alert, "Tiny", begin + seconds(59)));
    const auto later = notices.take(alert, "Tiny", begin + seconds(61));
    ASSERT_TRUE(later);
    EXPECT_EQ(later->text, "Tiny\n1 more since the last");
    alert.stops = true;
    const auto last = notices.take(alert, "Tiny", begin + seconds(62));
    ASSERT_TRUE(last);
    EXPECT_TRUE(last->urgent);
    alert.age_s = 3600; // it was caught up with
    EXPECT_FALSE(notices.take(alert, "Tiny", begin + seconds(600)));
    notices.begin();
    alert = {1, "again", false, "", "", 0};
    EXPECT_TRUE(notices.take(alert, "Other", begin + seconds(601)));
}

} // namespace
} // namespace fourfold::view
