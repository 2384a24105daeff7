// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/pairs.h"

#include "core/plan/trainable.h"
#include "tests/parity/compare.h"
#include "tests/parity/pair_settings.h"
#include "tests/parity/tiny_plans.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

namespace fourfold::testing {

namespace {
using Job = std::vector<std::size_t>; // of each choice a setting
constexpr std::size_t kOpen = SIZE_MAX;

struct PairPlace {
    std::size_t choice = 0, setting = 0;
    bool operator==(const PairPlace&) const = default;
};

const PairSetting& at(PairPlace place)
{
    return choices()[place.choice].settings[place.setting];
}

PairPlace place_of(const std::string& name)
{
    for (std::size_t choice = 0; choice < choices().size(); ++choice) {
        const auto& settings = choices()[choice].settings;
        const auto found = std::ranges::find(settings, name, &PairSetting::name);
        if (found != settings.end())
            return {choice, std::size_t(found - settings.begin())};
    }
    throw std::out_of_range("no setting " + name);
}

// What all jobs have: micro-batches of one sequence, on something that has all precisions and a host.
const std::vector<std::string> kEveryJob{
    kEveryPrecision, "training.precision=\"fp32\"", "training.micro_batch=1", "training.global_batch=8"};

Case as_case(const Job& job)
{
    Case c{"", {}, kEveryJob};
    int ranks = 1;
    Sides sides;
    std::string (*model_of)(const Sides&) = nullptr;
    for (std::size_t choice = 0; choice < job.size(); ++choice) {
        const PairSetting& setting = at({choice, job[choice]});
        ranks *= setting.ranks;
        c.mesh = joined(c.mesh, setting.mesh);
        c.model = joined(c.model, setting.model);
        if (setting.sides.hidden != Sides().hidden)
            sides = setting.sides;
        if (setting.model_of != nullptr)
            model_of = setting.model_of;
        if (job[choice] != 0)
            c.name += (c.name.empty() ? "" : "_") + setting.name;
    }
    if (c.name.empty())
        c.name = "plain";
    c.mesh.insert(c.mesh.begin(), "gpus=" + std::to_string(ranks));
    // Its fields come before those that others change.
    c.model.insert(c.model.begin(), {model_of(sides), "training.seq_len=" + std::to_string(sides.seq_len)});
    return c;
}

int ranks_of(const Job& job)
{
    int ranks = 1;
    for (std::size_t choice = 0; choice < job.size(); ++choice)
        ranks *= job[choice] == kOpen ? 1 : at({choice, job[choice]}).ranks;
    return ranks;
}

// Settings that planner and trainer take and that are no technique there.
std::string nothing_to_do(const ResolvedPlan& plan, const Job& job)
{
    for (const std::string& note : plan.notes)
        if (note.find("has no effect") != std::string::npos)
            return note;
    const Layout& layout = plan.layout;
    const Training& training = plan.training;
    if (training.sharding != Sharding::none && layout.dp * layout.cp == 1)
        return "training.sharding: there is one replica";
    if (!plan.model.experts && plan.run.routing_bias_rate != RunSettings().routing_bias_rate)
        return "run.routing_bias_rate: there is no router";
    static const std::size_t experts = place_of("etp1").choice;
    if (!plan.model.experts && job[experts] != 0)
        return "layout.etp: there are no experts";
    return "";
}

// Why planner or trainer refuses the job, empty where they run it.
std::string refusal(const Job& job)
{
    static std::map<Job, std::string> known;
    const auto [found, is_new] = known.try_emplace(job);
    if (!is_new)
        return found->second;
    std::string& why = found->second;
    const Case c = as_case(job);
    try {
        const ResolvedPlan plan = tiny_plan("tokens.bin", joined(c.model, c.mesh));
        auto reasons = check(plan);
        if (reasons.empty())
            reasons = trainer_limits(plan);
        why = reasons.empty() ? nothing_to_do(plan, job) : reasons.front().field + ": " + reasons.front().message;
    } catch (const std::exception& error) { // it does not even resolve
        why = error.what();
    }
    return why;
}

// The two alone, each with what it means nothing without. Empty: refused, `why` says by what.
std::optional<Job> alone(PairPlace first, PairPlace second, int most_ranks, std::string& why)
{
    const std::vector<std::vector<std::string>> none{{}};
    const auto companions = [&](PairPlace place) -> const auto&
    {
        return at(place).companions.empty() ? none : at(place).companions;
    };
    why.clear();
    for (const auto& of_first : companions(first))
        for (const auto& of_second : companions(second)) {
            Job job(choices().size(), 0);
            for (const auto* const names : {&of_second, &of_first})
                for (const std::string& name : *names) {
                    const PairPlace place = place_of(name);
                    job[place.choice] = place.setting;
                }
            job[first.choice] = first.setting;
            job[second.choice] = second.setting;
            if (ranks_of(job) > most_ranks)
                continue;
            const std::string refused = refusal(job);
            if (refused.empty())
                return job;
            if (why.empty())
                why = refused;
        }
    return std::nullopt;
}

class Cover {
public:
    explicit Cover(int most_ranks)
        : most_ranks_(most_ranks)
    {
        std::size_t count = 0;
        for (const Choice& choice : choices()) {
            first_of_.push_back(count);
            count += choice.settings.size();
        }
        settled_.assign(count, std::vector<bool>(count, false));
        refused_.assign(count, std::vector<bool>(count, false));
    }

    TechniquePairs all()
    {
        TechniquePairs result;
        // Each pair alone, before rows are put together of those that are allowed.
        std::map<std::pair<std::size_t, std::size_t>, Job> alone_of;
        std::vector<std::pair<PairPlace, PairPlace>> left;
        each_pair([&](PairPlace first, PairPlace second) {
            std::string why;
            if (auto job = alone(first, second, most_ranks_, why)) {
                alone_of.emplace(std::pair(number(first), number(second)), *std::move(job));
                left.emplace_back(first, second);
                return;
            }
            result.refused.push_back({at(first).name, at(second).name, why});
            refused_[number(first)][number(second)] = refused_[number(second)][number(first)] = true;
        });
        std::ranges::shuffle(left, random_);
        for (const auto& [first, second] : left) {
            if (settled_[number(first)][number(second)])
                continue;
            const Job job = filled(alone_of.at({number(first), number(second)}), first, second);
            settle(job);
            result.jobs.push_back(as_case(job));
        }
        return result;
    }

private:
    [[nodiscard]] std::size_t number(PairPlace place) const { return first_of_[place.choice] + place.setting; }

    template <typename Use>
    static void each_pair(Use&& use)
    {
        const auto& all = choices();
        for (std::size_t a = 0; a < all.size(); ++a)
            for (std::size_t b = a + 1; b < all.size(); ++b)
                for (std::size_t i = 0; i < all[a].settings.size(); ++i)
                    for (std::size_t j = 0; j < all[b].settings.size(); ++j)
                        use(PairPlace{a, i}, PairPlace{b, j});
    }

    void settle(const Job& job)
    {
        for (std::size_t a = 0; a < job.size(); ++a)
            for (std::size_t b = 0; b < job.size(); ++b)
                settled_[number({a, job[a]})][number({b, job[b]})] = true;
    }

    // Pairs that the setting would add to the others of the job; none where it may not stand beside one of them.
    [[nodiscard]] std::optional<int> gain(const Job& job, PairPlace place) const
    {
        int fresh = 0;
        for (std::size_t other = 0; other < job.size(); ++other) {
            if (other == place.choice)
                continue;
            const std::size_t mine = number(place), its = number({other, job[other]});
            if (refused_[mine][its])
                return std::nullopt;
            fresh += settled_[mine][its] ? 0 : 1;
        }
        return fresh;
    }

    // A job that runs with the two and as many pairs that no other has as come easily: from `job`, which has the two
    // alone, setting by setting, each kept where the whole still runs and gains.
    Job filled(Job job, PairPlace first, PairPlace second)
    {
        std::vector<std::size_t> order(job.size());
        std::iota(order.begin(), order.end(), 0);
        constexpr int kRounds = 2; // what was refused beside one setting may go beside what came later
        for (int round = 0; round < kRounds; ++round) {
            std::ranges::shuffle(order, random_);
            for (const std::size_t choice : order)
                if (choice != first.choice && choice != second.choice)
                    improve(job, choice);
        }
        return job;
    }

    void improve(Job& job, std::size_t choice)
    {
        const std::size_t before = job[choice];
        std::vector<std::pair<int, std::size_t>> wanted; // by gain
        const int own = gain(job, {choice, before}).value_or(-1);
        for (std::size_t setting = 0; setting < choices()[choice].settings.size(); ++setting)
            if (const auto fresh = gain(job, {choice, setting}); fresh && *fresh > own)
                wanted.emplace_back(*fresh, setting);
        std::ranges::shuffle(wanted, random_);
        std::ranges::stable_sort(wanted, std::greater<>(), &std::pair<int, std::size_t>::first);
        constexpr std::size_t kTries = 2; // each costs a plan
        for (std::size_t i = 0; i < std::min(kTries, wanted.size()); ++i) {
            job[choice] = wanted[i].second;
            if (ranks_of(job) <= most_ranks_ && refusal(job).empty())
                return;
        }
        job[choice] = before;
    }

    int most_ranks_;
    std::mt19937 random_{1};
    std::vector<std::size_t> first_of_; // number of a choice's first setting
    std::vector<std::vector<bool>> settled_, refused_; // by numbers of two settings
};
} // namespace

TechniquePairs technique_pairs(int most_ranks)
{
    return Cover(most_ranks).all();
}

} // namespace fourfold::testing
