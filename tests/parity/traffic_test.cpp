// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks send is what the planner lists, to the byte; and the kernel counts little more than that.
#include "tests/parity/compare.h"
#include "tests/parity/expected_traffic.h"
#include "tests/parity/network_namespace.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::testing {
namespace {

Traffic sum_of(const std::vector<Dump>& dumps)
{
    Traffic traffic;
    for (const Dump& dump : dumps)
        for (const auto& [group, operations] : dump.step_bytes)
            for (const auto& [operation, bytes] : operations)
                traffic[{group, operation}] += double(bytes);
    return traffic;
}

std::string words(const Traffic& traffic)
{
    std::string text;
    for (const auto& [key, bytes] : traffic)
        text += key.first + " " + key.second + " " + std::to_string(int64_t(bytes)) + "\n";
    return text;
}

// Entered before the process starts from which all ranks are forked: theirs is that of the tests that count.
class Payload : public ::testing::TestWithParam<Case> {
protected:
    static void SetUpTestSuite() { (void)own_network(); }
};

TEST_P(Payload, EqualsThePlannersList)
{
    const TemporaryFolder folder;
    auto changes = joined(GetParam().model, GetParam().mesh);
    changes.emplace_back("run.steps=1");
    const auto plan = tiny_plan(write_tokens(folder.path()), changes);
    const auto result = run_job(plan, folder.path() / "run");
    ASSERT_EQ(result.problem, "");
    EXPECT_EQ(words(sum_of(result.dumps)), words(planned_traffic(plan)));
}

INSTANTIATE_TEST_SUITE_P(
    Plans, Payload, ::testing::ValuesIn(unpadded_cases()), [](const auto& info) { return info.param.name; });

// Tensors large enough that headers do not matter; start-up and evaluation cancel out between two runs.
class Wire : public ::testing::TestWithParam<Case> { };

TEST_P(Wire, CarriesLittleMoreThanThePayload)
{
    if (const std::string& reason = own_network(); !reason.empty())
        GTEST_SKIP() << "needs the right to make a network namespace: " << reason;
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    constexpr int kFew = 2, kMany = 6;
    const auto bytes_of = [&](int steps) {
        auto changes = joined(GetParam().model, GetParam().mesh);
        changes.push_back("run.steps=" + std::to_string(steps));
        const double before = loopback_bytes();
        const auto result = run_job(tiny_plan(tokens, changes), folder.path() / std::to_string(steps));
        EXPECT_EQ(result.problem, "");
        return loopback_bytes() - before;
    };
    const double few = bytes_of(kFew), many = bytes_of(kMany);
    const double measured = (many - few) / (kMany - kFew);
    const auto plan = tiny_plan(tokens, joined(GetParam().model, GetParam().mesh));
    const double wanted = wire_bytes(plan, planned_traffic(plan));
    std::cout << GetParam().name << ": " << measured << " bytes a step on the wire, " << wanted << " expected, ratio "
              << measured / wanted << "\n";
    EXPECT_GT(measured, 0.98 * wanted);
    EXPECT_LT(measured, 1.05 * wanted);
}

const std::vector<std::string> kLarge{"model.hidden_size=256", "model.intermediate_size=512", "training.seq_len=64",
    "model.vocab_size=64", "training.global_batch=8"};
const Case kWireCases[] = {
    {"tp2", {"gpus=2", "layout.tp=2"}, kLarge},
    {"dp4", {"gpus=4", "layout.dp=4"}, kLarge},
    {"dp4_zero2", {"gpus=4", "layout.dp=4", "training.sharding=\"gradients\""}, kLarge},
    {"dp4_fsdp", {"gpus=4", "layout.dp=4", "training.sharding=\"parameters\""}, kLarge},
    {"cp4_ring", {"gpus=4", "layout.cp=4"}, kLarge},
    {"pp2_dp2", {"gpus=4", "layout.pp=2", "layout.dp=2"}, kLarge},
    {"pp2_dp2_fsdp", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\""}, kLarge},
    {"dp4_hsdp", {"gpus=4", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\""}, kLarge},
};
INSTANTIATE_TEST_SUITE_P(
    Plans, Wire, ::testing::ValuesIn(kWireCases), [](const auto& info) { return info.param.name; });

} // namespace
} // namespace fourfold::testing
