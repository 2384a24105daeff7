// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/pareto.h"
#include "tests/core/search/search_plans.h"

#include <random>
#include <tuple>

namespace fourfold {
namespace {

FoundLayout found(int gpus, double memory, double seconds, int micro_batch)
{
    FoundLayout layout;
    layout.candidate.dp = gpus;
    layout.candidate.micro_batch = std::int16_t(micro_batch);
    layout.figures.memory_device_gib = memory;
    layout.seconds_per_sequence = seconds;
    return layout;
}

std::tuple<int, double, double> key(const FoundLayout& layout)
{
    return {layout.candidate.gpus(), layout.figures.memory_device_gib, layout.seconds_per_sequence};
}

bool dominates(const FoundLayout& a, const FoundLayout& b)
{
    const auto [ga, ma, sa] = key(a);
    const auto [gb, mb, sb] = key(b);
    return ga <= gb && ma <= mb && sa <= sb && key(a) != key(b);
}

TEST(Pareto, EqualsTheDefinitionAndDoesNotDependOnTheOrder)
{
    std::mt19937 random(5);
    for (int round = 0; round < 50; ++round) {
        std::vector<FoundLayout> all;
        for (int i = 0; i < 60; ++i)
            all.push_back(found(1 << (random() % 4), double(random() % 12), double(random() % 12), int(random() % 5)));
        std::vector<std::tuple<int, double, double>> expected;
        for (const FoundLayout& layout : all) {
            const bool beaten = std::any_of(
                all.begin(), all.end(), [&](const FoundLayout& other) { return dominates(other, layout); });
            if (!beaten)
                expected.push_back(key(layout));
        }
        std::sort(expected.begin(), expected.end());
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());

        ParetoFront front, shuffled, left, right;
        for (const FoundLayout& layout : all)
            front.add(layout);
        std::shuffle(all.begin(), all.end(), random);
        for (std::size_t i = 0; i < all.size(); ++i) {
            shuffled.add(all[i]);
            (i % 2 == 0 ? left : right).add(all[i]);
        }
        left.merge(right);
        std::vector<std::tuple<int, double, double>> keys;
        for (const FoundLayout& layout : front.sorted())
            keys.push_back(key(layout));
        EXPECT_EQ(keys, expected);
        for (const ParetoFront* other : {&shuffled, &left}) {
            const auto members = other->sorted();
            ASSERT_EQ(members.size(), keys.size());
            for (std::size_t i = 0; i < members.size(); ++i) {
                EXPECT_EQ(key(members[i]), keys[i]);
                EXPECT_EQ(members[i].candidate, front.sorted()[i].candidate);
            }
        }
    }
}

} // namespace
} // namespace fourfold
