// SPDX-License-Identifier: GPL-3.0-or-later
// The order of samples in epochs: blends, shuffles, what they depend on.
#include "runner/trainer/data/blend.h"
#include "runner/trainer/data/sampler.h"
#include "runner/trainer/data/shuffle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include <unistd.h>

namespace fourfold::trainer {
namespace {

using ::testing::HasSubstr;

TEST(Shuffle, IsAPermutationOfAnyCount)
{
    for (int64_t count = 1; count <= 300; ++count)
        for (const uint64_t key : {1u, 2u}) {
            std::vector<bool> seen(std::size_t(count), false);
            for (int64_t place = 0; place < count; ++place) {
                const int64_t number = shuffled(place, count, key);
                ASSERT_TRUE(number >= 0 && number < count && !seen[std::size_t(number)]) << count << " " << place;
                seen[std::size_t(number)] = true;
            }
        }
    // Of more numbers than any table holds.
    std::set<int64_t> far;
    for (int64_t place = 0; place < 1000; ++place)
        far.insert(shuffled(place, int64_t(1) << 60, 3));
    EXPECT_EQ(far.size(), 1000u);
}

// Each number as often at each place: chi-squared of 10 x 10 cells over many keys, of 81 degrees of freedom, whose mean
// is 81 and standard deviation 12.7. An order that does not depend on the key, or moves by a constant, is far above.
TEST(Shuffle, HasNoFavouritePlaces)
{
    constexpr int64_t kCount = 10;
    constexpr int kKeys = 20000;
    std::vector<double> cells(kCount * kCount, 0);
    double next = 0; // neighbours that stay neighbours
    for (uint64_t key = 0; key < kKeys; ++key)
        for (int64_t place = 0; place < kCount; ++place) {
            cells[std::size_t(place * kCount + shuffled(place, kCount, mix(key)))] += 1;
            next += place > 0 && shuffled(place, kCount, mix(key)) == shuffled(place - 1, kCount, mix(key)) + 1;
        }
    double chi = 0;
    for (const double cell : cells)
        chi += (cell - kKeys / 10.0) * (cell - kKeys / 10.0) / (kKeys / 10.0);
    EXPECT_LT(chi, 81 + 5 * 12.7);
    EXPECT_NEAR(next / (kKeys * 9.0), 0.1, 0.003); // 9 of 90 ordered pairs; four standard deviations
}

// The order of runs that were begun: it may never change.
TEST(Shuffle, KeepsItsOrder)
{
    uint64_t digest = 0;
    for (int64_t place = 0; place < 1000; ++place)
        digest = combine(digest, uint64_t(shuffled(place, 1000, 42)));
    EXPECT_EQ(digest, 0xea4011b8ac8b731eu);
}

// Megatron-LM's loop, word by word (megatron/core/datasets/helpers.cpp, build_blending_indices).
std::vector<std::pair<int, int64_t>> megatron_blend(const std::vector<double>& weights, int64_t size)
{
    std::vector<int64_t> current(weights.size(), 0);
    std::vector<std::pair<int, int64_t>> index;
    for (int64_t sample = 0; sample < size; ++sample) {
        const double count = std::max(double(sample), 1.0);
        int64_t most = 0;
        double error = weights[0] * count - double(current[0]);
        for (std::size_t i = 1; i < weights.size(); ++i)
            if (weights[i] * count - double(current[i]) > error) {
                error = weights[i] * count - double(current[i]);
                most = int64_t(i);
            }
        index.emplace_back(int(most), current[std::size_t(most)]++);
    }
    return index;
}

TEST(Blend, IsMegatrons)
{
    // Sums of these binary fractions are exact, so that ties fall alike.
    const std::vector<double> weights{0.5, 0.3125, 0.125, 0.0625};
    const Blend blend(weights);
    EXPECT_EQ(blend.period(), 16);
    const auto theirs = megatron_blend(weights, 16);
    for (int64_t number = 0; number < 16; ++number) {
        EXPECT_EQ(blend.at(number).source, theirs[std::size_t(number)].first) << number;
        EXPECT_EQ(blend.at(number).before, theirs[std::size_t(number)].second) << number;
    }
}

// Whatever the weights: no source is ever a whole sample or more ahead of its share, every draw is counted once, and a
// far sample is found without those before it.
TEST(Blend, KeepsToItsShares)
{
    for (const std::vector<double>& weights : {std::vector{1.0}, {0.7, 0.3}, {1 / 3.0, 1 / 3.0, 1 / 3.0},
             {0.123456789, 0.5, 0.376543211}, {1e-6, 1 - 1e-6}}) {
        const Blend blend(weights);
        std::vector<int64_t> drawn(weights.size(), 0);
        double worst = 0;
        for (int64_t number = 0; number < 50000; ++number) {
            const auto [source, before] = blend.at(number);
            ASSERT_EQ(before, drawn[std::size_t(source)]++);
            worst = std::max(
                worst, double(drawn[std::size_t(source)]) - weights[std::size_t(source)] * double(number + 1));
        }
        EXPECT_LT(worst, 1.1);
        const int64_t far = int64_t(1) << 50;
        const auto [source, before] = blend.at(far);
        const double expected = weights[std::size_t(source)] * double(far);
        EXPECT_NEAR(double(before), expected, std::max(2.0, double(far) / double(1 << 20)));
    }
    EXPECT_EQ(Blend({0.7, 0.3}).period(), 10);
    EXPECT_EQ(Blend({1e-8, 1 - 1e-8}).shares()[0], 0);
}

class Epochs : public ::testing::Test {
protected:
    void SetUp() override
    {
        folder_ = std::filesystem::temp_directory_path() / ("fourfold-epochs-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    // Windows of `kLength` tokens whose first token is first, first + 1, ...
    DataSource source(const std::string& name, int first, int windows, double weight) const
    {
        std::string text;
        for (int window = 0; window < windows; ++window)
            text += static_cast<char>(first + window) + std::string(kLength - 1, 'z');
        std::ofstream(folder_ / name, std::ios::binary) << text << 'z';
        DataSource written;
        written.path = (folder_ / name).string();
        written.weight = weight;
        return written;
    }
    static constexpr int kLength = 4;
    // First tokens of the samples [first, last), read in batches of any size.
    static std::vector<int64_t> firsts(
        const std::vector<DataSource>& sources, int64_t first, int64_t last, uint64_t seed = 1, int64_t batch = 7)
    {
        const auto sampler = Sampler::open(sources, {"run.data"}, seed, kLength, 256, {.order = DataOrder::epochs});
        EXPECT_TRUE(sampler) << sampler.error().line();
        std::vector<int64_t> tokens(kLength), labels(kLength), out;
        for (int64_t number = first; number < last; ++number) {
            EXPECT_TRUE(sampler->sample(number, batch, {tokens.data(), labels.data()}));
            out.push_back(tokens[0]);
        }
        return out;
    }
    std::filesystem::path folder_;
};

TEST_F(Epochs, EachWindowOnceBeforeAnyComesAgain)
{
    const std::vector<DataSource> one{source("a.txt", 10, 50, 1)};
    const auto order = firsts(one, 0, 150);
    std::vector<std::vector<int64_t>> epochs;
    for (int epoch = 0; epoch < 3; ++epoch) {
        epochs.emplace_back(order.begin() + epoch * 50, order.begin() + (epoch + 1) * 50);
        EXPECT_EQ(std::set<int64_t>(epochs.back().begin(), epochs.back().end()).size(), 50u);
    }
    EXPECT_FALSE(std::is_sorted(order.begin(), order.begin() + 50));
    EXPECT_NE(epochs[0], epochs[1]) << "each epoch has an order of its own";
    EXPECT_NE(order, firsts(one, 0, 150, 2)) << "and each seed";
}

// Two sources at 3 to 1, the second small: it comes round three times while the first is half read.
TEST_F(Epochs, BlendsByWeightAndEachSourceInItsOwnEpochs)
{
    const std::vector<DataSource> two{source("a.txt", 0, 100, 3), source("b.txt", 100, 5, 1)};
    const auto order = firsts(two, 0, 60);
    std::vector<int64_t> b;
    std::ranges::copy_if(order, std::back_inserter(b), [](int64_t token) { return token >= 100; });
    EXPECT_EQ(b.size(), 15u);
    for (int epoch = 0; epoch < 3; ++epoch)
        EXPECT_EQ(std::set<int64_t>(b.begin() + epoch * 5, b.begin() + (epoch + 1) * 5).size(), 5u);
    EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 45u + 5u);
}

TEST_F(Epochs, DependOnSeedAndNumberAlone)
{
    const std::vector<DataSource> two{source("a.txt", 0, 100, 0.6), source("b.txt", 100, 50, 0.4)};
    const auto whole = firsts(two, 0, 400);
    const auto rest = firsts(two, 123, 400, 1, 64); // resumed in the middle, in other batches
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), whole.begin() + 123));
}

// By the index and by the id of each document's last token alike.
TEST_F(Epochs, DocumentsAreToldApart)
{
    const std::array<std::uint32_t, 4> lengths{3, 0, 4, 6};
    const auto named = [&](const std::string& name, const std::string& bytes) {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
        return folder_ / name;
    };
    DataSource source;
    source.path = named("d.bin", "ab.cde.fghij.").string();
    source.dtype = "uint8";
    const auto list = named("lengths", std::string(reinterpret_cast<const char*>(lengths.data()), sizeof lengths));
    const auto read = [&](const DocumentSettings& documents, std::vector<int64_t>& labels) {
        const auto sampler = Sampler::open({source}, {"run.data"}, 1, 12, 256, {.documents = documents});
        EXPECT_TRUE(sampler) << sampler.error().line();
        std::vector<int64_t> tokens(12), starts(12);
        labels.resize(12);
        EXPECT_TRUE(sampler && sampler->window(0, {tokens.data(), labels.data(), starts.data()}));
        return starts;
    };
    const auto unknown = Sampler::open({source}, {"run.data"}, 1, 12, 256, {.documents = {true, {}, false}});
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().line(), HasSubstr("there is no d.idx beside it"));
    EXPECT_THAT(unknown.error().line(), HasSubstr("set run.documents.end"));

    std::vector<int64_t> labels, by_index;
    EXPECT_EQ(read({false, '.', false}, labels), std::vector<int64_t>(12, 0));
    EXPECT_EQ(labels, (std::vector<int64_t>{'b', '.', 'c', 'd', 'e', '.', 'f', 'g', 'h', 'i', 'j', '.'}));
    const std::vector<int64_t> starts{0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 7, 7};
    EXPECT_EQ(read({true, '.', false}, labels), starts);
    constexpr int64_t kNone = Sampler::kNoLabel;
    EXPECT_EQ(labels, (std::vector<int64_t>{'b', '.', kNone, 'd', 'e', '.', kNone, 'g', 'h', 'i', 'j', '.'}));
    ASSERT_TRUE(write_token_index(folder_ / "d.idx", TokenBytes::one, list, 4));
    EXPECT_EQ(read({true, {}, false}, by_index), starts);
    EXPECT_EQ(by_index, labels);
}

TEST_F(Epochs, BadBlendsAreNamed)
{
    const auto message = [](const std::vector<DataSource>& sources) {
        const auto sampler = Sampler::open(sources, {"run.data"}, 1, kLength, 256, {.order = DataOrder::epochs});
        return sampler ? "" : sampler.error().line();
    };
    EXPECT_THAT(message({}), HasSubstr("run.data: there is nothing to train on"));
    EXPECT_THAT(message({source("a.txt", 0, 9, 0), source("b.txt", 0, 9, 0)}),
        HasSubstr("run.data[0].weight: the weight must be a positive number"));
    EXPECT_THAT(message({source("a.txt", 0, 9, 1), source("b.txt", 0, 9, 1e-9)}),
        HasSubstr("run.data[1].weight: the weight is less than one in 1048576 samples"));
}

} // namespace
} // namespace fourfold::trainer
