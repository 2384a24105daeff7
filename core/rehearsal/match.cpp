// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/rehearsal/match.h"

#include "core/base/text.h"
#include "core/rehearsal/rehearsal_words.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace fourfold {

namespace {

bool is_collective(const WireOperation& asked)
{
    return asked.messages.empty();
}

// One operation of one rank.
struct Call {
    std::size_t rank = 0; // index of the program
    int operation = 0;
};

// All ranks' progress, until nothing moves any more.
class Match {
public:
    Match(const std::vector<RankProgram>& programs, const DeviceRules& rules)
        : programs_(programs)
        , rules_(rules)
        , ranks_(programs.size())
        , matched_{std::vector<Matched::Rank>(programs.size())}
    {
        for (std::size_t i = 0; i < programs.size(); ++i) {
            index_.emplace(programs[i].rank, i);
            ranks_[i].open.resize(programs[i].operations.size(), 0);
            ranks_[i].free_at.resize(programs[i].wires.size(), 0);
            ranks_[i].busy.resize(programs[i].wires.size(), false);
            matched_.ranks[i].operations.resize(programs[i].operations.size());
        }
    }

    Expected<Matched> run()
    {
        check_members();
        for (std::size_t i = 0; i < ranks_.size(); ++i)
            ready_.push_back(i);
        while (!ready_.empty() && !broken_) {
            const std::size_t rank = ready_.front();
            ready_.pop_front();
            advance(rank);
        }
        if (broken_)
            return *broken_;
        FOURFOLD_CHECK(check_ended());
        for (std::size_t i = 0; i < ranks_.size(); ++i)
            matched_.ranks[i].end_s = ranks_[i].now_s + programs_[i].last_work_s;
        return std::move(matched_);
    }

private:
    struct Rank {
        std::size_t step = 0; // next of the program
        std::vector<int> waiting; // asked for, not begun, oldest first
        double now_s = 0;
        std::vector<double> free_at; // when the last operation on each wire ended
        std::vector<bool> busy; // wires on which an operation has begun and not ended
        std::vector<int> open; // of each operation: what it still waits for; kEnded when it is through
        int begun = 0;
        int blocked_on = -1;
    };
    static constexpr int kEnded = -1, kAsked = 1 << 20;

    // Whoever has a communicator of some name must mean the same ranks in the same order.
    void check_members()
    {
        std::map<std::string_view, std::pair<const Wire*, const RankProgram*>> known;
        const auto list = [](const Wire& wire) {
            constexpr std::size_t kMostNamed = 16;
            std::string text;
            for (std::size_t i = 0; i < std::min(wire.members.size(), kMostNamed); ++i)
                text += (i > 0 ? ", " : "") + std::to_string(wire.members[i]);
            return text + (wire.members.size() > kMostNamed ? ", ..." : "");
        };
        for (const RankProgram& program : programs_)
            for (const Wire& wire : program.wires) {
                const auto [first, is_new] = known.try_emplace(wire.name, &wire, &program);
                const auto& [other, whose] = first->second;
                if (!is_new && other->members != wire.members && !broken_)
                    break_off("members of " + wire.name + " disagree on who they are: " + rank_words(*whose)
                        + " takes ranks " + list(*other) + ", " + rank_words(program) + " ranks " + list(wire));
            }
    }

    // Asks and waits as far as the rank comes.
    void advance(std::size_t at)
    {
        Rank& rank = ranks_[at];
        const RankProgram& program = programs_[at];
        rank.blocked_on = -1;
        while (rank.step < program.steps.size() && !broken_) {
            const int step = program.steps[rank.step];
            if (step < 0 && rank.open[std::size_t(~step)] != kEnded) {
                rank.blocked_on = ~step;
                return;
            }
            if (rank.step < program.work_s.size())
                rank.now_s += program.work_s[rank.step];
            ++rank.step;
            std::vector<Matched::Span>& spans = matched_.ranks[at].operations;
            if (step < 0)
                rank.now_s = std::max(rank.now_s, spans[std::size_t(~step)].end_s);
            else
                spans[std::size_t(step)].begin_s = rank.now_s;
            matched_.ranks[at].at_s.push_back(rank.now_s);
            if (step >= 0) {
                rank.open[std::size_t(step)] = kAsked;
                if (is_own_copy(program, program.operations[std::size_t(step)])) {
                    ++rank.begun;
                    begin({at, step}); // and ends there and then
                } else {
                    rank.waiting.push_back(step);
                    begin_what_can(at);
                }
            }
        }
    }

    void begin_what_can(std::size_t at)
    {
        Rank& rank = ranks_[at];
        for (std::size_t i = 0; i < rank.waiting.size() && !broken_;) {
            const int operation = rank.waiting[i];
            const auto wire = std::size_t(programs_[at].operations[std::size_t(operation)].wire);
            // One that was asked for earlier on this wire goes first.
            const bool first = std::none_of(rank.waiting.begin(), rank.waiting.begin() + std::ptrdiff_t(i),
                [&](int earlier) { return std::size_t(programs_[at].operations[std::size_t(earlier)].wire) == wire; });
            if (first && !rank.busy[wire] && rank.begun < rules_.at_once) {
                rank.waiting.erase(rank.waiting.begin() + std::ptrdiff_t(i));
                rank.busy[wire] = true;
                ++rank.begun;
                begin({at, operation});
                i = 0; // what ended meanwhile may let others begin
                continue;
            }
            if (rules_.one_queue)
                return;
            ++i;
        }
    }

    void begin(Call call)
    {
        const RankProgram& program = programs_[call.rank];
        const WireOperation& asked = program.operations[std::size_t(call.operation)];
        double& begin_s = span_of(call).begin_s;
        begin_s = std::max(begin_s, ranks_[call.rank].free_at[std::size_t(asked.wire)]);
        if (is_collective(asked))
            meet(call, program.wires[std::size_t(asked.wire)]);
        else
            exchange(call, program.wires[std::size_t(asked.wire)]);
    }

    // The n-th collective of a communicator, on all members.
    void meet(Call call, const Wire& wire)
    {
        auto& calls = gathered_[wire.name];
        if (!calls.empty()) {
            const RankProgram& other = programs_[calls.front().rank];
            const WireOperation& first = other.operations[std::size_t(calls.front().operation)];
            const RankProgram& own = programs_[call.rank];
            const WireOperation& second = own.operations[std::size_t(call.operation)];
            if (std::tie(first.kind, first.type, first.elements, first.reduction)
                != std::tie(second.kind, second.type, second.elements, second.reduction)) {
                break_off("members of " + wire.name + " disagree: " + rank_words(other) + " has " + shape_words(first)
                    + " (" + operation_words(other, calls.front().operation) + "), " + rank_words(own) + " has "
                    + shape_words(second) + " (" + operation_words(own, call.operation) + ")");
                return;
            }
        }
        calls.push_back(call);
        const auto present = std::count_if(
            wire.members.begin(), wire.members.end(), [&](int member) { return index_.contains(member); });
        if (std::ptrdiff_t(calls.size()) < present)
            return;
        const std::vector<Call> all = std::move(calls);
        gathered_.erase(wire.name);
        double end_s = 0;
        for (const Call& each : all)
            end_s = std::max(end_s, span_of(each).begin_s + operation_of(each).seconds);
        for (const Call& each : all) {
            span_of(each).end_s = end_s;
            end(each);
        }
    }

    void exchange(Call call, const Wire& wire)
    {
        const RankProgram& own = programs_[call.rank];
        const WireOperation& asked = own.operations[std::size_t(call.operation)];
        int& open = ranks_[call.rank].open[std::size_t(call.operation)];
        open = 1; // itself, until all its messages are looked at
        std::vector<Call> touched;
        for (const WireMessage& message : asked.messages) {
            if (!index_.contains(message.peer))
                continue;
            const int from = message.sends ? own.rank : message.peer, to = message.sends ? message.peer : own.rank;
            auto& others = offered_[{wire.name, from, to, !message.sends}];
            if (others.empty()) {
                offered_[{wire.name, from, to, message.sends}].push_back(
                    {call, message.elements, message.tag, asked.type});
                ++open;
                continue;
            }
            const Offer other = others.front();
            others.pop_front();
            if (other.elements != message.elements || other.type != asked.type) {
                break_off(
                    text_of("rank %d and rank %d disagree on a message of %s: %s has %lld %s (%s), the other side "
                            "%lld %s (%s)",
                        from, to, wire.name.c_str(), rank_words(own).c_str(), static_cast<long long>(message.elements),
                        asked.type.c_str(), operation_words(own, call.operation).c_str(),
                        static_cast<long long>(other.elements), other.type.c_str(),
                        operation_words(programs_[other.call.rank], other.call.operation).c_str()));
                return;
            }
            if (other.tag != message.tag) {
                break_off(
                    text_of("rank %d and rank %d mean different messages of %s: %s has message %d (%s), the other "
                            "side message %d (%s)",
                        from, to, wire.name.c_str(), rank_words(own).c_str(), message.tag,
                        operation_words(own, call.operation).c_str(), other.tag,
                        operation_words(programs_[other.call.rank], other.call.operation).c_str()));
                return;
            }
            const double end_s = std::max(span_of(call).begin_s, span_of(other.call).begin_s) + asked.seconds;
            for (const Call& side : {call, other.call})
                span_of(side).end_s = std::max(span_of(side).end_s, end_s);
            touched.push_back(other.call);
        }
        touched.push_back(call);
        for (const Call& each : touched)
            if (--ranks_[each.rank].open[std::size_t(each.operation)] == 0)
                end(each);
    }

    void end(Call call)
    {
        Rank& rank = ranks_[call.rank];
        rank.open[std::size_t(call.operation)] = kEnded;
        const auto wire = std::size_t(operation_of(call).wire);
        rank.busy[wire] = false;
        Matched::Span& span = span_of(call);
        span.end_s = std::max(span.end_s, span.begin_s); // of messages to ranks without a program
        rank.free_at[wire] = span.end_s;
        --rank.begun;
        ready_.push_back(call.rank);
        unblocked_.push_back(call.rank);
        if (settling_)
            return;
        settling_ = true; // not deeper and deeper: one operation's end may let a long chain begin
        while (!unblocked_.empty() && !broken_) {
            const std::size_t next = unblocked_.front();
            unblocked_.pop_front();
            begin_what_can(next);
        }
        settling_ = false;
    }

    Expected<void> check_ended() const
    {
        const auto stuck = std::find_if(ranks_.begin(), ranks_.end(),
            [&](const Rank& rank) { return rank.step < programs_[std::size_t(&rank - ranks_.data())].steps.size(); });
        if (stuck == ranks_.end())
            return check_unmet();
        constexpr int kMostNamed = 8;
        std::string message = "the ranks wait for each other";
        int named = 0, more = 0;
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            if (ranks_[i].blocked_on < 0)
                continue;
            if (named >= kMostNamed) {
                ++more;
                continue;
            }
            message += (named++ == 0 ? ": " : "; ") + rank_words(programs_[i]) + " in "
                + operation_words(programs_[i], ranks_[i].blocked_on) + missing_words(i);
        }
        if (more > 0)
            message += text_of("; and %d more ranks", more);
        return Problem{ProblemCode::failed, message, "", ""};
    }

    // Who has not come to what a blocked rank waits for.
    [[nodiscard]] std::string missing_words(std::size_t at) const
    {
        const RankProgram& program = programs_[at];
        const WireOperation& asked = program.operations[std::size_t(ranks_[at].blocked_on)];
        const Wire& wire = program.wires[std::size_t(asked.wire)];
        const auto& waiting = ranks_[at].waiting;
        if (std::find(waiting.begin(), waiting.end(), ranks_[at].blocked_on) != waiting.end())
            return ", which cannot begin before what was asked for earlier ends";
        if (!is_collective(asked))
            return "";
        std::string names;
        const auto gathered = gathered_.find(wire.name);
        for (const int member : wire.members) {
            const auto known = index_.find(member);
            if (known == index_.end() || gathered == gathered_.end())
                continue;
            if (std::none_of(gathered->second.begin(), gathered->second.end(),
                    [&](const Call& call) { return call.rank == known->second; }))
                names += (names.empty() ? ", where rank " : ", rank ") + std::to_string(member);
        }
        return names.empty() ? "" : names + " is missing";
    }

    // Everybody has ended and something was offered that nobody took: the other side forgot it.
    [[nodiscard]] Expected<void> check_unmet() const
    {
        const auto left_over = [&](const Call& call) {
            return Problem{ProblemCode::failed,
                rank_words(programs_[call.rank]) + ": " + operation_words(programs_[call.rank], call.operation)
                    + " never meets its other side",
                "", ""};
        };
        for (const auto& [key, offers] : offered_)
            if (!offers.empty())
                return left_over(offers.front().call);
        for (const auto& [name, calls] : gathered_)
            if (!calls.empty())
                return left_over(calls.front());
        for (std::size_t i = 0; i < ranks_.size(); ++i)
            if (!ranks_[i].waiting.empty())
                return left_over({i, ranks_[i].waiting.front()});
        return {};
    }

    [[nodiscard]] const WireOperation& operation_of(Call call) const
    {
        return programs_[call.rank].operations[std::size_t(call.operation)];
    }
    Matched::Span& span_of(Call call) { return matched_.ranks[call.rank].operations[std::size_t(call.operation)]; }

    void break_off(std::string message) { broken_ = Problem{ProblemCode::failed, std::move(message), "", ""}; }

    struct Offer {
        Call call;
        int64_t elements = 0;
        int tag = 0;
        std::string type;
    };
    const std::vector<RankProgram>& programs_;
    const DeviceRules& rules_;
    std::vector<Rank> ranks_;
    Matched matched_;
    std::map<int, std::size_t> index_; // of the program of a global rank
    std::deque<std::size_t> ready_, unblocked_;
    bool settling_ = false;
    std::map<std::string, std::vector<Call>> gathered_; // collectives that have begun on some members, by wire
    // Messages that one side has begun: by wire, sender, receiver, and whether it is the sender's side.
    std::map<std::tuple<std::string, int, int, bool>, std::deque<Offer>> offered_;
    std::optional<Problem> broken_;
};

} // namespace

Expected<Matched> match_programs(const std::vector<RankProgram>& programs, const DeviceRules& rules)
{
    return Match(programs, rules).run();
}

double seconds_at(const Matched::Rank& rank, const Moment& moment)
{
    return (moment.steps == 0 ? 0 : rank.at_s[moment.steps - 1]) + moment.work_s;
}

} // namespace fourfold
