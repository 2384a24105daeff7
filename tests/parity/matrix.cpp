// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/matrix.h"

#include "core/plan/trainable.h"
#include "core/search/enumerate.h"
#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

#include <algorithm>
#include <cctype>
#include <random>
#include <utility>

namespace fourfold::testing {

namespace {
struct Setting {
    std::string name;
    std::vector<std::string> assignments;
    int ranks = 1; // factor of the job's size
};
using Factor = std::vector<Setting>;
enum Place { kTp, kPp, kDp, kCp, kSharding, kRecompute, kOverlap, kModel, kOffload, kFactors };

const std::vector<Factor>& every_setting()
{
    static const std::string four_layers = "model.num_hidden_layers=4", tied = "model.tie_word_embeddings=true",
                             gpus = "cluster=\"dgx-h100\"";
    static const std::vector<Factor> factors{
        {{"tp1", {}}, {"tp2", {"layout.tp=2"}, 2},
            {"tp2plain", {"layout.tp=2", "training.sequence_parallel=false"}, 2}},
        {{"pp1", {}}, {"pp2", {"layout.pp=2"}, 2},
            {"pp2gpipe", {"layout.pp=2", "training.schedule=\"gpipe\"", "layout.stage_layers=[1,3]"}, 2},
            {"pp2interleaved", {"layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"interleaved\""}, 2},
            {"pp2zbh1", {"layout.pp=2", "training.schedule=\"zb-h1\""}, 2},
            {"pp2zbv", {"layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"zb-v\""}, 2}},
        {{"dp1", {}}, {"dp2", {"layout.dp=2"}, 2}},
        {{"cp1", {}}, {"cp2ring", {"layout.cp=2", "training.cp_method=\"ring\""}, 2},
            {"cp2gather", {"layout.cp=2", "training.cp_method=\"all-gather\""}, 2}},
        {{"ddp", {}}, {"zero1", {"training.sharding=\"optimizer\""}}, {"zero2", {"training.sharding=\"gradients\""}},
            {"zero3", {"training.sharding=\"parameters\""}},
            {"zero3each", {"training.sharding=\"parameters\"", "training.fsdp.each_micro_batch=true"}},
            {"hsdp", {"training.sharding=\"hybrid\"", "layout.dp_shard=2"}}},
        {{"keep", {}}, {"full", {"training.recompute=\"full\""}}, {"selective", {"training.recompute=\"selective\""}},
            {"full1", {"training.recompute=\"full\"", "training.recompute_layers=1"}}},
        {{"overlap", {}}, {"late", {"training.overlap={\"grad_reduce\":false,\"param_gather\":false,\"p2p\":false}"}}},
        {{"llama", {four_layers}}, {"llamatied", {four_layers, tied}},
            {"qwen2", {four_layers, "model.model_type=\"qwen2\""}},
            {"gpt2",
                {"model={\"model_type\":\"gpt2\",\"vocab_size\":61,\"n_embd\":32,\"n_layer\":4,\"n_head\":4,"
                 "\"n_positions\":32}"}},
            {"bloom",
                {"model={\"model_type\":\"bloom\",\"vocab_size\":61,\"hidden_size\":32,\"n_layer\":4,\"n_head\":4}"}}},
        {{"here", {}}, {"activationsaway", {gpus, "training.offload=\"activations\""}},
            {"optimizeraway", {gpus, "training.offload=\"optimizer\""}}},
    };
    return factors;
}

using Row = std::vector<int>; // a setting of each factor

const Setting& setting(int factor, int value)
{
    return every_setting()[std::size_t(factor)][std::size_t(value)];
}

Case as_case(const Row& row)
{
    Case c;
    int ranks = 1;
    for (int factor = 0; factor < kFactors; ++factor) {
        const Setting& chosen = setting(factor, row[std::size_t(factor)]);
        ranks *= chosen.ranks;
        const bool plain = row[std::size_t(factor)] == 0 && factor != kModel;
        if (!plain)
            c.name += (c.name.empty() ? "" : "_") + chosen.name;
        auto& assignments = factor == kModel ? c.model : c.mesh;
        assignments.insert(assignments.end(), chosen.assignments.begin(), chosen.assignments.end());
    }
    c.mesh.insert(c.mesh.begin(), "gpus=" + std::to_string(ranks));
    return c;
}

bool runs(const Row& row)
{
    const Case c = as_case(row);
    try {
        const ResolvedPlan plan = tiny_plan("tokens.bin", joined(c.model, c.mesh));
        return check(plan).empty() && trainer_limits(plan).empty();
    } catch (const std::exception&) { // it does not even resolve
        return false;
    }
}

int ranks_of(const Row& row)
{
    int ranks = 1;
    for (int factor = 0; factor < kFactors; ++factor)
        ranks *= setting(factor, row[std::size_t(factor)]).ranks;
    return ranks;
}

constexpr int kBits = 3; // of a setting's number
constexpr std::size_t kKeys = std::size_t(1) << (kBits * kFactors);

// Calls `use` with a number for each choice of `strength` settings of the row; the number names factors and settings.
template <typename Use>
void each_combination(const Row& row, int strength, Use&& use)
{
    std::vector<char> chosen(kFactors, 0);
    std::fill_n(chosen.begin(), strength, 1);
    do {
        std::size_t key = 0;
        for (int factor = 0; factor < kFactors; ++factor)
            if (chosen[std::size_t(factor)])
                key |= std::size_t(row[std::size_t(factor)] + 1) << (kBits * factor);
        use(key);
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
}
} // namespace

std::vector<Case> covering_array(int strength, int most_ranks)
{
    // All rows that run; the greedy choice takes the one that covers most of what is left.
    std::vector<Row> rows;
    Row row(kFactors, 0);
    for (bool more = true; more;) {
        if (ranks_of(row) <= most_ranks)
            rows.push_back(row);
        more = false;
        for (int factor = 0; factor < kFactors && !more; ++factor) {
            more = std::size_t(++row[std::size_t(factor)]) < every_setting()[std::size_t(factor)].size();
            if (!more)
                row[std::size_t(factor)] = 0;
        }
    }
    std::ranges::shuffle(rows, std::mt19937(1));

    // Whether a row runs is asked late: it costs a plan. Few rows are refused but for settings that none may have.
    std::vector<bool> covered(kKeys, false);
    std::vector<Row> taken;
    std::vector<std::size_t> gain(rows.size(), SIZE_MAX); // upper bounds: gains only fall
    const auto gain_of = [&](const Row& candidate) {
        std::size_t fresh = 0;
        each_combination(candidate, strength, [&](std::size_t key) { fresh += covered[key] ? 0 : 1; });
        return fresh;
    };
    std::vector<int> known(rows.size(), -1);
    for (;;) {
        std::size_t best = rows.size(), most = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (known[i] == 0 || gain[i] <= most)
                continue;
            gain[i] = gain_of(rows[i]);
            if (gain[i] <= most)
                continue;
            if (known[i] < 0)
                known[i] = runs(rows[i]) ? 1 : 0;
            if (known[i] == 0)
                continue;
            most = gain[i];
            best = i;
        }
        if (most == 0)
            break;
        taken.push_back(rows[best]);
        each_combination(rows[best], strength, [&](std::size_t key) { covered[key] = true; });
    }
    std::vector<Case> cases;
    for (const Row& chosen : taken)
        cases.push_back(as_case(chosen));
    return cases;
}

std::vector<Case> mesh_shapes()
{
    std::vector<Case> cases;
    for (const int tp : {1, 2, 4})
        for (const int cp : {1, 2, 4})
            for (const int pp : {1, 2, 4})
                for (const int dp : {1, 2, 4}) {
                    const int split = (tp > 1) + (cp > 1) + (pp > 1) + (dp > 1);
                    const int ranks = tp * cp * pp * dp;
                    const bool alone = split == 1, pair = split == 2 && ranks == 4, all = split == 4 && ranks == 16;
                    if (!alone && !pair && !all)
                        continue;
                    Case c{"", {"gpus=" + std::to_string(ranks)},
                        {"model.num_hidden_layers=4", "model.tie_word_embeddings=true"}};
                    const std::pair<const char*, int> degrees[] = {{"tp", tp}, {"cp", cp}, {"pp", pp}, {"dp", dp}};
                    for (const auto& [dimension, degree] : degrees)
                        if (degree > 1) {
                            c.name += (c.name.empty() ? "" : "_") + std::string(dimension) + std::to_string(degree);
                            c.mesh.push_back(std::string("layout.") + dimension + "=" + std::to_string(degree));
                        }
                    const ResolvedPlan plan = tiny_plan("tokens.bin", joined(c.model, c.mesh));
                    if (check(plan).empty() && trainer_limits(plan).empty())
                        cases.push_back(std::move(c));
                }
    return cases;
}

std::vector<Case> drawn_cases(int count, unsigned seed, int most_ranks)
{
    const std::vector<std::string> model{"model.num_hidden_layers=4", "training.global_batch=16"};
    const ResolvedPlan base = tiny_plan("tokens.bin", model);
    std::vector<int> sizes;
    for (int ranks = 2; ranks <= most_ranks; ++ranks)
        sizes.push_back(ranks);
    SearchSpace space = default_space(base, sizes);
    space.schedule = {Schedule::gpipe, Schedule::one_f_one_b, Schedule::interleaved};
    space.sharding = {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters, Sharding::hybrid};
    std::vector<Candidate> candidates;
    for (const MeshUnit& unit : mesh_units(space))
        for_each_candidate(space, base, unit, [&](const Candidate& candidate) { candidates.push_back(candidate); });
    std::mt19937 random(seed);
    std::ranges::shuffle(candidates, random);

    std::vector<Case> cases;
    for (const Candidate& candidate : candidates) {
        if (int(cases.size()) == count)
            break;
        ResolvedPlan plan = base;
        place(candidate, space, base, plan);
        if (!check(plan).empty() || !trainer_limits(plan).empty())
            continue;
        const Layout& layout = plan.layout;
        const Training& training = plan.training;
        const auto number = [](int value) { return std::to_string(value); };
        Case c{"tp" + number(layout.tp) + "_cp" + number(layout.cp) + "_pp" + number(layout.pp) + "_dp"
                + number(layout.dp) + "_b" + number(training.micro_batch) + "_v" + number(layout.virtual_stages),
            {"gpus=" + number(plan.gpus), "layout.tp=" + number(layout.tp), "layout.cp=" + number(layout.cp),
                "layout.pp=" + number(layout.pp), "layout.dp=" + number(layout.dp),
                "layout.virtual_stages=" + number(layout.virtual_stages), "layout.dp_shard=" + number(layout.dp_shard),
                "training.micro_batch=" + number(training.micro_batch)},
            model};
        const std::pair<const char*, std::string> words[] = {{"schedule", to_text(training.schedule)},
            {"sharding", to_text(training.sharding)}, {"recompute", to_text(training.recompute)}};
        for (const auto& [field, value] : words) {
            c.mesh.push_back(std::string("training.") + field + "=\"" + value + "\"");
            for (const char letter : "_" + value)
                c.name += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
        }
        cases.push_back(std::move(c));
    }
    return cases;
}

} // namespace fourfold::testing
