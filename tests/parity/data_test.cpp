// SPDX-License-Identifier: GPL-3.0-or-later
// Token files, the sampler, initial values, shards and buckets: everything that needs no Torch.
#include "core/model/parameters.h"
#include "runner/trainer/data/counter_random.h"
#include "runner/trainer/data/sampler.h"
#include "runner/trainer/data/unigram.h"
#include "runner/trainer/data_parallel/bucket_plan.h"
#include "runner/trainer/model/initial_values.h"
#include "runner/trainer/model/normal_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <set>

#include <unistd.h>

namespace fourfold::trainer {
namespace {

using ::testing::HasSubstr;

class Data : public ::testing::Test {
protected:
    void SetUp() override
    {
        folder_ = std::filesystem::temp_directory_path() / ("fourfold-data-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    DataSource write(const std::string& name, const std::string& bytes, const std::string& dtype = "") const
    {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
        DataSource source;
        source.path = (folder_ / name).string();
        source.dtype = dtype;
        return source;
    }
    static int64_t token(const TokenFile& file, int64_t index)
    {
        int64_t out = -1;
        EXPECT_TRUE(file.read(index, 1, &out));
        return out;
    }
    std::filesystem::path folder_;
};

TEST_F(Data, TypesAreReadLittleEndian)
{
    const std::string bytes("\x01\x02\x03\x04\xff\xfe\xfd\xfc", 8);
    EXPECT_EQ(token(**TokenFile::open(write("a.txt", bytes), "d"), 4), 0xff);
    const auto words = *TokenFile::open(write("b.bin", bytes), "d");
    EXPECT_EQ(words->size(), 4);
    EXPECT_EQ(token(*words, 0), 0x0201);
    EXPECT_EQ(token(*words, 2), 0xfeff);
    const auto longs = *TokenFile::open(write("c.bin", bytes, "uint32"), "d");
    EXPECT_EQ(longs->size(), 2);
    EXPECT_EQ(token(*longs, 1), 0xfcfdfeff);
}

TEST_F(Data, RangesCutTheFileWithoutOverlap)
{
    DataSource front = write("a.txt", "0123456789"), back = front;
    front.end = 0.9;
    back.begin = 0.9;
    const auto a = *TokenFile::open(front, "d"), b = *TokenFile::open(back, "d");
    EXPECT_EQ(a->size() + b->size(), 10);
    EXPECT_EQ(token(*a, 8), '8');
    EXPECT_EQ(token(*b, 0), '9');
}

TEST_F(Data, BadFilesAreNamed)
{
    const auto message = [](const DataSource& source) { return TokenFile::open(source, "run.data[0]").error().line(); };
    DataSource missing;
    missing.path = (folder_ / "no.txt").string();
    EXPECT_THAT(message(missing), HasSubstr("no.txt"));
    EXPECT_THAT(
        message(write("odd.bin", "abc")), HasSubstr("3 bytes are not a whole, positive number of 2-byte tokens"));
    EXPECT_THAT(message(write("empty.txt", "")), HasSubstr("0 bytes"));
    EXPECT_THAT(message(write("type.bin", "abcd", "int8")), HasSubstr("unknown token type \"int8\""));
    DataSource folder;
    folder.path = folder_.string();
    EXPECT_FALSE(TokenFile::open(folder, "d"));
    DataSource backwards = write("a.txt", "0123");
    backwards.begin = 0.5;
    backwards.end = 0.5;
    EXPECT_FALSE(TokenFile::open(backwards, "d"));
}

TEST_F(Data, AFileThatBecomesShorterIsNamed)
{
    const std::string text(100000, 'a');
    const DataSource source = write("cut.txt", text);
    const auto sampler = *Sampler::open({source}, {"run.data"}, 1, 16, 256);
    std::vector<int64_t> tokens(16), labels(16);
    EXPECT_TRUE(sampler.sample(0, 1, {tokens.data(), labels.data()}));
    std::filesystem::resize_file(source.path, 3);
    const auto read = sampler.window(6000, {tokens.data(), labels.data()});
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().line(), HasSubstr("cut.txt"));
    EXPECT_THAT(read.error().line(), HasSubstr("became shorter while it was read: it had 100000 bytes"));
    const auto entropy = unigram_entropy(sampler, sampler, 256);
    ASSERT_FALSE(entropy);
    EXPECT_THAT(entropy.error().line(), HasSubstr("cut.txt"));
}

TEST_F(Data, SamplesDependOnSeedStepAndIndexAlone)
{
    std::string text;
    for (int i = 0; i < 1000; ++i)
        text += static_cast<char>(i % 251);
    const DataSource source = write("a.txt", text);
    constexpr int64_t kBatch = 200;
    const auto sample = [&](uint64_t seed, int64_t step, int64_t index) {
        const auto sampler = *Sampler::open({source}, {"run.data"}, seed, 16, 256);
        std::vector<int64_t> tokens(17), labels(16);
        EXPECT_TRUE(sampler.sample(step * kBatch + index, kBatch, {tokens.data(), labels.data()}));
        tokens[16] = labels[15];
        EXPECT_TRUE(std::equal(labels.begin(), labels.end(), tokens.begin() + 1)) << "the label is the next token";
        return tokens;
    };
    EXPECT_EQ(sample(1, 5, 3), sample(1, 5, 3));
    EXPECT_NE(sample(1, 5, 3), sample(2, 5, 3));
    EXPECT_NE(sample(1, 5, 3), sample(1, 6, 3));
    EXPECT_NE(sample(1, 5, 3), sample(1, 5, 4));
    // A window is consecutive text, and windows come from everywhere.
    std::set<int64_t> starts;
    for (int64_t index = 0; index < 200; ++index) {
        const auto tokens = sample(1, 0, index);
        for (std::size_t i = 1; i < tokens.size(); ++i)
            EXPECT_EQ(tokens[i], (tokens[i - 1] + 1) % 251);
        starts.insert(tokens[0]);
    }
    EXPECT_GT(starts.size(), 100u);
}

TEST_F(Data, SourcesAreDrawnByWeight)
{
    DataSource a = write("a.txt", std::string(100, 'a')), b = write("b.txt", std::string(100, 'b'));
    a.weight = 3;
    b.weight = 1;
    const auto sampler = *Sampler::open({a, b}, {"run.data"}, 1, 8, 256);
    int from_a = 0;
    std::vector<int64_t> tokens(8), labels(8);
    for (int64_t index = 0; index < 4000; ++index) {
        ASSERT_TRUE(sampler.sample(index, 4000, {tokens.data(), labels.data()}));
        from_a += tokens[0] == 'a';
    }
    EXPECT_NEAR(from_a / 4000.0, 0.75, 0.03); // four standard deviations
}

TEST_F(Data, EvaluationWindowsFollowEachOther)
{
    std::string text;
    for (int i = 0; i < 50; ++i)
        text += static_cast<char>(i);
    const auto sampler = *Sampler::open({write("a.txt", text), write("b.txt", text)}, {"run.eval.data"}, 1, 8, 256);
    EXPECT_EQ(sampler.windows(), 12); // 49 / 8 per file
    std::vector<int64_t> tokens(8), labels(8);
    for (int64_t index = 0; index < 24; ++index) {
        ASSERT_TRUE(sampler.window(index, {tokens.data(), labels.data()}));
        EXPECT_EQ(tokens[0], index % 6 * 8);
        EXPECT_EQ(labels[7], index % 6 * 8 + 8);
    }
}

TEST_F(Data, PaddingIsNoTarget)
{
    const auto sampler = *Sampler::open({write("a.txt", "ab..cd.e")}, {"run.data"}, 1, 7, 256, {.padding = '.'});
    std::vector<int64_t> tokens(7), labels(7);
    ASSERT_TRUE(sampler.window(0, {tokens.data(), labels.data()}));
    EXPECT_EQ(tokens, (std::vector<int64_t>{'a', 'b', '.', '.', 'c', 'd', '.'}));
    constexpr int64_t kNone = Sampler::kNoLabel;
    EXPECT_EQ(labels, (std::vector<int64_t>{'b', kNone, kNone, 'c', 'd', kNone, 'e'}));
}

TEST_F(Data, TokensOutsideOfTheVocabularyAreAnError)
{
    const auto sampler = *Sampler::open({write("a.txt", "aaaaaaaaaaaaaaaaaaaaaaaaaz")}, {"run.eval.data"}, 1, 25, 'z');
    std::vector<int64_t> tokens(25), labels(25);
    EXPECT_THAT(
        sampler.window(0, {tokens.data(), labels.data()}).error().line(), HasSubstr("token 122 at position 25"));
    EXPECT_THAT(Sampler::open({write("b.txt", "short")}, {"run.data"}, 1, 5, 256).error().line(),
        HasSubstr("holds 5 tokens in its range, a sequence needs 6"));
    EXPECT_FALSE(Sampler::open({}, {"run.data"}, 1, 5, 256));
}

TEST_F(Data, UnigramEntropyOfAKnownText)
{
    // Training counts with one added each: a 3 + 1, b 1 + 1, of 4 + 4 (vocabulary of 4). Held out: half a, half b.
    const auto train = *Sampler::open({write("t.txt", std::string("\0\0\0\1", 4))}, {"d"}, 1, 1, 4);
    const auto held = *Sampler::open({write("h.txt", std::string("\0\1", 2))}, {"d"}, 1, 1, 4);
    EXPECT_NEAR(*unigram_entropy(train, held, 4), -0.5 * std::log(4.0 / 8) - 0.5 * std::log(2.0 / 8), 1e-12);
    // Padding counts on neither side.
    const auto padded = *Sampler::open({write("p.txt", std::string("\0\3\1\3", 4))}, {"d"}, 1, 1, 4, {.padding = 3});
    EXPECT_NEAR(*unigram_entropy(train, padded, 4), -0.5 * std::log(4.0 / 8) - 0.5 * std::log(2.0 / 8), 1e-12);
}

// Hugging Face's labels have -100 where nothing is to be learned. No sample is told it as a token, and none counts it.
TEST_F(Data, NegativeIdsAreNoTokens)
{
    std::string head = "{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }";
    head.resize(117, ' ');
    std::string file("\x93NUMPY\1\0\x76\0", 10);
    file += head + "\n";
    for (const int64_t id : {int64_t(0), int64_t(-100), int64_t(1), std::numeric_limits<int64_t>::min()})
        file.append(reinterpret_cast<const char*>(&id), sizeof id);
    const auto signed_ids = *Sampler::open({write("labels.npy", file)}, {"d"}, 1, 1, 4);
    const auto train = *Sampler::open({write("t.txt", std::string("\0\0\0\1", 4))}, {"d"}, 1, 1, 4);
    EXPECT_NEAR(*unigram_entropy(train, signed_ids, 4), -0.5 * std::log(4.0 / 8) - 0.5 * std::log(2.0 / 8), 1e-12);
    std::vector<int64_t> tokens(1), labels(1);
    const auto read = signed_ids.window(0, {tokens.data(), labels.data()});
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().line(), HasSubstr("token -100 at position 1"));
}

Shard shard_of(std::vector<int64_t> shape, int tp_dim, int64_t begin, int64_t length)
{
    Shard shard;
    shard.parameter.name = "model.layers.0.weight";
    shard.parameter.shape = std::move(shape);
    shard.parameter.tp_dim = tp_dim;
    shard.begin = begin;
    shard.length = length;
    shard.valid_rows = shard.parameter.shape[0];
    return shard;
}

std::vector<double> initial_values(const Shard& shard, uint64_t seed)
{
    std::vector<double> values(std::size_t(shard.elements()));
    fill_initial_values<double>(shard, seed, 0, values);
    return values;
}

TEST(InitialValues, SlicesAreParts)
{
    const auto full = initial_values(shard_of({6, 4}, -1, 0, 6), 3);
    const auto rows = initial_values(shard_of({6, 4}, 0, 2, 2), 3);
    EXPECT_EQ(rows, std::vector<double>(full.begin() + 8, full.begin() + 16));
    const auto columns = initial_values(shard_of({6, 4}, 1, 2, 2), 3);
    for (std::size_t row = 0; row < 6; ++row)
        for (std::size_t column = 0; column < 2; ++column)
            EXPECT_EQ(columns[row * 2 + column], full[row * 4 + 2 + column]);
    EXPECT_NE(initial_values(shard_of({6, 4}, -1, 0, 6), 4), full);
}

// Any part of a shard, wherever it begins and whatever it is stored in: also inside a pair, a vector or a block.
TEST(InitialValues, AnyPartIsThatOfTheWhole)
{
    const Shard shard = shard_of({40, 301}, 1, 7, 290);
    const auto whole = initial_values(shard, 3);
    for (const std::size_t first : {0u, 1u, 2u, 289u, 290u, 291u, 5003u})
        for (const std::size_t count : {1u, 2u, 3u, 7u, 1024u, 6000u}) {
            std::vector<float> part(count);
            fill_initial_values<float>(shard, 3, int64_t(first), part);
            EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + std::ptrdiff_t(first)))
                << first << " " << count;
        }
}

// Against the formula with the library's functions in double precision; and bits that no CPU may change.
TEST(InitialValues, AreBoxAndMullersNumbers)
{
    constexpr uint64_t kStream = 42;
    std::vector<float> numbers(200000);
    normal_numbers(kStream, 0, numbers);
    for (std::size_t pair = 0; pair < numbers.size() / 2; ++pair) {
        const uint64_t bits = random_bits(kStream, pair);
        const double unit = (double(bits >> 33) + 0.5) / double(1u << 31);
        const double radius = std::sqrt(-2 * std::log(unit)),
                     angle = 2 * std::numbers::pi * double(uint32_t(bits)) / 0x1p32;
        const double tolerance = unit > 0.999 ? 2.5e-4 : 1e-6; // ln x of x near 1, of which fp32 holds 24 bits
        ASSERT_NEAR(numbers[2 * pair], radius * std::cos(angle), tolerance);
        ASSERT_NEAR(numbers[2 * pair + 1], radius * std::sin(angle), tolerance);
    }
    uint64_t digest = 0;
    for (const float number : numbers)
        digest = combine(digest, std::bit_cast<uint32_t>(number));
    EXPECT_EQ(digest, 0xb09d19ab02d81dd1u);
}

TEST(InitialValues, AreNormalAndPaddingIsZero)
{
    Shard shard = shard_of({300, 200}, -1, 0, 300);
    shard.parameter.init_std = 0.5;
    shard.valid_rows = 299;
    const auto values = initial_values(shard, 1);
    double sum = 0, squares = 0, fourth = 0;
    const double count = 299 * 200;
    for (const double value : values) {
        sum += value;
        squares += value * value;
        fourth += value * value * value * value;
    }
    EXPECT_NEAR(sum / count, 0, 0.01);
    EXPECT_NEAR(squares / count, 0.25, 0.01);
    EXPECT_NEAR(fourth / count / 0.0625, 3, 0.15); // the normal distribution's kurtosis
    EXPECT_EQ(std::vector<double>(values.end() - 200, values.end()), std::vector<double>(200, 0.0));
    shard.parameter.init_std = 0;
    shard.parameter.init_value = 1;
    EXPECT_EQ(initial_values(shard, 1), std::vector<double>(60000, 1.0));
}

TEST(Buckets, HoldEveryParameterOnceInBackwardOrder)
{
    std::vector<Shard> shards;
    for (int i = 0; i < 20; ++i) {
        shards.push_back(shard_of({10, 10}, i % 3 == 0 ? -1 : 0, 0, 10));
        shards.back().replication = i % 3 == 0 ? Replication::tp : Replication::none;
        shards.back().parameter.weight_decay = i % 3 != 0;
    }
    const auto buckets = plan_buckets(shards, 250, [](const Shard&) { return ReplicaGroups{.part = 0, .parts = 3}; });
    std::set<std::size_t> seen;
    std::size_t earliest = shards.size();
    for (const Bucket& bucket : buckets) {
        EXPECT_EQ(bucket.elements % 3, 0);
        int64_t end = 0;
        std::size_t segment = 0, lowest = shards.size();
        for (const BucketEntry& entry : bucket.entries) {
            EXPECT_TRUE(seen.insert(entry.shard).second);
            EXPECT_LT(entry.shard, earliest) << "a later bucket holds earlier parameters";
            lowest = std::min(lowest, entry.shard);
            EXPECT_EQ(entry.offset, end);
            if (end == bucket.segments.at(segment).end) {
                EXPECT_EQ(bucket.segments.at(++segment).begin, end);
            }
            end += shards[entry.shard].elements();
            EXPECT_LE(end, bucket.segments[segment].end);
            EXPECT_EQ(shards[entry.shard].replication, bucket.segments[segment].replication);
            EXPECT_EQ(shards[entry.shard].parameter.weight_decay, bucket.segments[segment].weight_decay);
        }
        EXPECT_EQ(end, bucket.payload());
        EXPECT_LE(end, bucket.elements);
        EXPECT_LT(bucket.elements, end + 3);
        earliest = lowest;
    }
    EXPECT_EQ(seen.size(), shards.size());
    EXPECT_GT(buckets.size(), 4u);
}

// Of ten layers of two tensors and three tensors outside, one of which the other end of the pipeline holds as well.
TEST(Buckets, UnitsAreStretchesOfLayersOfOneChunk)
{
    std::vector<Shard> shards;
    const auto add = [&](int layer, Replication replication = Replication::none) {
        shards.push_back(shard_of({4, 4}, -1, 0, 4));
        shards.back().parameter.layer = layer;
        shards.back().replication = replication;
    };
    add(-1, Replication::ends);
    for (const int layer : {0, 1, 2, 6, 7})
        for (int i = 0; i < 2; ++i)
            add(layer);
    add(-1);
    add(-1);
    const auto units = plan_units(shards, 2, [](const Shard&) { return ReplicaGroups(); });
    std::vector<std::set<int>> layers;
    for (const Bucket& unit : units) {
        layers.emplace_back();
        for (const BucketEntry& entry : unit.entries)
            layers.back().insert(shards[entry.shard].parameter.layer);
    }
    EXPECT_EQ(layers, (std::vector<std::set<int>>{{6, 7}, {2}, {0, 1}, {-1}, {-1}}));
    EXPECT_EQ(units[3].entries.size(), 1u) << "what both ends hold stands alone";
    EXPECT_EQ(units[4].entries.size(), 2u);
}

TEST(Buckets, TheHeadHasAUnitOfItsOwnWhereItSharesNothing)
{
    const auto units_of = [](const std::vector<Role>& ends) {
        std::vector<Shard> shards;
        const auto add = [&](int layer, Role role) {
            shards.push_back(shard_of({4, 4}, -1, 0, 4));
            shards.back().parameter.layer = layer;
            shards.back().parameter.role = role;
        };
        for (const Role role : ends) {
            if (role == Role::final_norm)
                add(0, Role::query);
            add(-1, role);
        }
        std::vector<std::vector<Role>> units;
        for (const Bucket& unit : plan_units(shards, 1, [](const Shard&) { return ReplicaGroups(); })) {
            units.emplace_back();
            for (const BucketEntry& entry : unit.entries)
                units.back().push_back(shards[entry.shard].parameter.role);
        }
        return units;
    };
    using enum Role;
    using Units = std::vector<std::vector<Role>>;
    EXPECT_EQ(units_of({embedding, final_norm, head}), (Units{{final_norm, head}, {query}, {embedding}}));
    EXPECT_EQ(units_of({embedding, final_norm}), (Units{{query}, {embedding, final_norm}}))
        << "the head is the embedding";
    EXPECT_EQ(units_of({embedding, embedding_norm, final_norm, head}),
        (Units{{query}, {embedding, embedding_norm, final_norm, head}}))
        << "the backward pass needs the weights of the norm";
}

// Experts are sharded over other ranks than the rest of their layers.
TEST(Buckets, ParametersOfDifferentGroupsNeverShareABucket)
{
    constexpr ReplicaGroups kDense{.part = 1, .parts = 4};
    constexpr ReplicaGroups kExperts{GroupKind::expert_dp, GroupKind::none, 0, 2};
    std::vector<Shard> shards;
    for (int i = 0; i < 12; ++i) {
        shards.push_back(shard_of({5, 5}, -1, 0, 5));
        shards.back().parameter.layer = i / 3;
        shards.back().parameter.kind = i % 3 == 2 ? ParameterKind::expert : ParameterKind::mlp;
    }
    const auto groups_of
        = [&](const Shard& shard) { return shard.parameter.kind == ParameterKind::expert ? kExperts : kDense; };
    for (const auto& buckets : {plan_buckets(shards, 120, groups_of), plan_units(shards, 2, groups_of)}) {
        EXPECT_GE(buckets.size(), 4u);
        std::size_t entries = 0;
        for (const Bucket& bucket : buckets) {
            entries += bucket.entries.size();
            EXPECT_EQ(bucket.elements % bucket.groups.parts, 0);
            EXPECT_EQ(bucket.part_begin(), bucket.groups.part * bucket.part_elements());
            for (const BucketEntry& entry : bucket.entries)
                EXPECT_EQ(groups_of(shards[entry.shard]), bucket.groups);
        }
        EXPECT_EQ(entries, shards.size());
    }
}

TEST(RunSchedule, LearningRates)
{
    RunSettings run;
    run.lr = 1;
    run.min_lr = 0.1;
    run.warmup_steps = 10;
    constexpr int kTotal = 110;
    for (const LrSchedule schedule : {LrSchedule::constant, LrSchedule::linear, LrSchedule::cosine, LrSchedule::wsd}) {
        run.lr_schedule = schedule;
        EXPECT_GT(run.learning_rate(0, kTotal), 0) << "the first step must move";
        for (int step = 1; step < 10; ++step)
            EXPECT_GT(run.learning_rate(step, kTotal), run.learning_rate(step - 1, kTotal));
        EXPECT_NEAR(run.learning_rate(10, kTotal), 1, 0.02);
        for (int step = 11; step < kTotal; ++step)
            EXPECT_LE(run.learning_rate(step, kTotal), run.learning_rate(step - 1, kTotal) + 1e-12);
        EXPECT_NEAR(run.learning_rate(kTotal - 1, kTotal), schedule == LrSchedule::constant ? 1 : 0.1, 0.05);
    }
    run.lr_schedule = LrSchedule::cosine;
    EXPECT_NEAR(run.learning_rate(60, kTotal), 0.55, 0.02); // half-way
    run.lr_schedule = LrSchedule::linear;
    EXPECT_NEAR(run.learning_rate(60, kTotal), 0.55, 0.02);
    run.lr_schedule = LrSchedule::wsd;
    EXPECT_NEAR(run.learning_rate(80, kTotal), 1, 1e-12);
}

} // namespace
} // namespace fourfold::trainer
