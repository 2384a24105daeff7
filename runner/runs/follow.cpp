// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/follow.h"

#include "core/history/event_types.h"
#include "runner/nodes/reconnect.h"
#include "runner/protocol/message.h"
#include "runner/protocol/straggler.h"
#include "runner/runs/causes.h"
#include "runner/runs/follow_control.h"
#include "runner/runs/outcome.h"

#include <algorithm>
#include <future>
#include <map>
#include <thread>

namespace fourfold {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kListen = 10ms; // between looks for what the launching thread wants
constexpr double kGangGraceSeconds = 0.04;
constexpr auto kAnswered = 10s; // a node that said so long ago that it stops its ranks may hang
constexpr uint64_t kLogBytes = 4u << 20, kAllLogBytes = 1u << 30; // of each rank's log, of all; kept at the end

struct Ending {
    std::string status;
    std::optional<Problem> problem; // when it is not the node that said so
    bool given_up = false; // not known how it ended: its ranks could not be stopped
    std::string why; // in the node's words
    int64_t at = 0, rest = 0; // bytes of a last line that was cut
};

// The number after that of the last line that has one.
int64_t next_after(const std::string& lines, int64_t seq)
{
    const std::size_t begin = lines.size() < 2 ? 0 : lines.rfind('\n', lines.size() - 2) + 1; // npos + 1 = 0
    const int64_t last = seq_of_line(std::string_view(lines).substr(begin));
    return std::max(seq, last + 1);
}

class Follower {
public:
    Follower(std::vector<Node>& nodes, Recorder& recorder, RunObserver& observer, Mailbox& mailbox,
        const FollowOptions& options)
        : nodes_(nodes)
        , recorder_(recorder)
        , observer_(observer)
        , mailbox_(mailbox)
        , options_(options)
        , causes_(recorder, nodes.size())
    {
    }

    FollowResult run(std::stop_token stop)
    {
        if (options_.order)
            begin_stop(*options_.order, true);
        std::size_t left
            = nodes_.size(); // counted down by the workers' last letters, so that none of them waits for ever
        {
            std::vector<std::jthread> threads;
            for (Node& node : nodes_) {
                threads.emplace_back([this, &node, &left] {
                    work(node);
                    mailbox_.post([&left] { --left; });
                });
            }
            while (left > 0) {
                if (stop.stop_requested() && !stop_seen_) {
                    stop_seen_ = true;
                    if (options_.on_stop == OnStop::detach)
                        control_.detach();
                    else
                        begin_stop({RunState::cancelled, "stopped on request", nullptr}, true);
                }
                if (const auto letter = mailbox_.take(20ms))
                    (*letter)();
            }
        }
        return result();
    }

private:
    // On the launching thread.
    void begin_stop(StopOrder order, bool tell)
    {
        if (tell) {
            observer_.on_state(RunState::stopping, order.why);
            (void)recorder_.set_state(RunState::stopping);
        }
        control_.order(std::move(order));
    }

    // The run goes on, and can be followed again once what is wrong here has been mended.
    void leave(Problem problem, const std::string& cure)
    {
        if (!left_)
            left_ = std::move(problem);
        if (left_->hint.empty())
            left_->hint = cure;
        if (left_->hint.find("attach") == std::string::npos)
            left_->hint += "; the run goes on, and `fourfold attach` catches up with it";
        control_.detach();
    }

    void take(int node, int64_t offset, const std::string& lines)
    {
        if (left_)
            return;
        heed(node, recorder_.take(node, offset, lines));
    }

    void heed(int node, const Expected<Recorder::Taken>& taken)
    {
        if (!taken) {
            // What cannot be stored here is still on the nodes.
            leave(taken.error(), "make room");
            return;
        }
        if (recorder_.full() && !told_full_) {
            told_full_ = true;
            observer_.on_state(now(), "warning: " + recorder_.full_text());
        }
        for (const std::string& note : taken->notes)
            observer_.on_state(now(), "warning: " + note);
        for (const Json& event : taken->events) {
            const WarningEvent warning
                = kind_of(event) == EventKind::warning ? read_event<WarningEvent>(event) : WarningEvent();
            causes_.remember(static_cast<std::size_t>(node), event);
            if (warning.kind == "stalled")
                look_for_straggler(static_cast<std::size_t>(node), warning.ranks);
            if (node == 0)
                observer_.on_event(event);
            else if (warning.kind == "missing")
                observer_.on_state(now(), "warning: " + warning.message);
        }
    }

    [[nodiscard]] RunState now() const { return control_.order() ? RunState::stopping : RunState::running; }

    // The first node finds that nothing moves; then the others are asked, and the ranks of all are compared.
    void look_for_straggler(std::size_t node, const Json& of_node)
    {
        if (nodes_.size() < 2)
            return;
        if (node == 0) {
            stalled_.assign(nodes_.size(), Json());
            control_.ask_for_diagnosis();
        }
        if (stalled_.empty())
            return;
        stalled_[node] = of_node.is_array() ? of_node : Json::array();
        Json all = Json::array();
        for (const Json& ranks : stalled_) {
            if (ranks.is_null())
                return;
            all.insert(all.end(), ranks.begin(), ranks.end());
        }
        observer_.on_state(RunState::running, "stalled: " + name_straggler(all));
    }

    void ended(int node, const Ending& ending)
    {
        const auto at = static_cast<std::size_t>(node);
        if (!ending.given_up && !left_) {
            if (ending.rest > 0)
                recorder_.skip(node, ending.at, ending.rest);
            heed(node, recorder_.end(node, ending.status, ending.problem ? ending.problem->line() : ending.why));
        }
        if (ending.status == "ok")
            return;
        if (ending.given_up) {
            given_up_ = ending.problem;
            return;
        }
        if (!first_bad_ || node == first_to_stop_) {
            first_bad_ = ending;
            first_bad_node_ = node;
        }
        StopOrder order{run_state(ending.status), read_event<EndEvent>(causes_.end(at)).message, nullptr};
        if (ending.problem)
            order.why = ending.problem->line();
        if (order.why.empty())
            order.why = "the ranks on " + nodes_[at].name + " ended with status " + ending.status;
        order.error = causes_.of(at, static_cast<int>(integer_field(causes_.end(at), "rank", -1)));
        if (nodes_.size() > 1)
            begin_stop(std::move(order), !control_.order());
    }

    // A node ends its ranks on its own account: the others need not wait until it has done so.
    void stops_by_itself(int node, const TailMessage& message)
    {
        if (nodes_.size() < 2 || control_.order() || message.status.empty() || message.status == "ok")
            return;
        first_to_stop_ = node;
        begin_stop(
            {run_state(message.status), message.why, causes_.of(static_cast<std::size_t>(node), message.rank)}, true);
    }

    FollowResult result()
    {
        FollowResult out;
        if (left_) {
            out.state = RunState::running;
            out.problem = left_;
            return out;
        }
        if (control_.detached()) {
            out.state = RunState::running;
            return out;
        }
        if (given_up_) {
            // Not an end: the node's ranks may still run, and attach() goes on stopping them.
            out.state = RunState::stopping;
            out.problem = given_up_;
            if (const auto order = control_.order())
                out.ordered = order->status;
            return out;
        }
        if (!first_bad_) {
            out.state = RunState::ok;
            if (recorder_.full())
                out.problem = Problem{ProblemCode::io, recorder_.full_text(), {}, {}};
            return out;
        }
        const auto at = static_cast<std::size_t>(first_bad_node_);
        out.state = run_state(first_bad_->status);
        if (first_bad_->problem) {
            out.problem = first_bad_->problem;
        } else {
            Json end = causes_.end(at);
            Json error = causes_.of(at, static_cast<int>(integer_field(end, "rank", -1)));
            if (const auto cause = causes_.better(error); cause && out.state != RunState::cancelled) {
                error = *cause;
                const ErrorEvent said = read_event<ErrorEvent>(error);
                end["message"] = "rank " + std::to_string(integer_field(error, "rank", -1)) + " on " + said.host + ": "
                    + said.message;
                out.state = end_of_kind(said.kind);
            }
            out.problem = problem_of_end(out.state, end, error, recorder_.folder());
        }
        return out;
    }

    // What the thread of a node knows of its link.
    struct Link {
        int64_t offset = 0, seq = 0; // of what comes next
        bool stop_sent = false;
        std::optional<Problem> trouble; // why the tail ended that has just broken
        Reconnect attempts;
        std::string note; // what was last told to be wrong on the node: only then is its end told, by whatever session
    };

    // On a node's own thread.
    void work(Node& node)
    {
        Link link{recorder_.offset(node.index), recorder_.next_seq(node.index), false, {}, Reconnect(), {}};
        while (!control_.detached()) {
            if (!node.agent) {
                if (const auto connected = node.connect(control_.interrupted()); !connected) {
                    if (!tries_again(node, link, connected.error()))
                        return;
                    continue;
                }
                link.stop_sent = false;
            }
            link.trouble.reset();
            const auto ending = tail(node, link);
            if (ending) {
                if (ending->status != "lost" || !ending->problem) {
                    fetch_logs(node);
                    if (!ending->given_up && all_stored())
                        (void)node.agent->kept(recorder_.run(), node.index);
                }
                node.agent.reset();
                post_end(node.index, *ending);
                return;
            }
            node.agent.reset();
            if (control_.detached())
                return;
            post_link(node, LinkState::reconnecting);
            if (link.trouble && !tries_again(node, link, *link.trouble))
                return;
        }
    }

    // Whether everything that was posted until now is in the history.
    bool all_stored()
    {
        std::promise<bool> stored;
        mailbox_.post([this, &stored] { stored.set_value(!left_ && !recorder_.full()); });
        return stored.get_future().get();
    }

    // Waits; false where no further attempt will help.
    bool tries_again(const Node& node, Link& link, const Problem& problem)
    {
        if (control_.detached())
            return false;
        if (link.attempts.is_news(problem)) {
            mailbox_.post([this, text = problem.line()] { observer_.on_state(now(), text); });
        }
        const auto wait = link.attempts.wait_after(problem);
        if (control_.ordered_before(std::chrono::duration<double>(options_.give_up_s)) || (!wait && control_.order())) {
            Problem unstopped = problem;
            unstopped.message = "could not be reached to stop its ranks: " + problem.message;
            unstopped.hint = "they may still run; `fourfold stop " + recorder_.run() + "` tries again";
            post_end(node.index, {"lost", unstopped, true, {}, 0, 0});
            return false;
        }
        if (!wait) {
            mailbox_.post([this, problem] { leave(problem, "mend that"); });
            return false;
        }
        control_.sleep(*wait);
        return true;
    }

    // Until the node's end, or nothing when the link broke.
    std::optional<Ending> tail(Node& node, Link& link)
    {
        const std::chrono::duration<double> link_s(options_.link_s);
        if (!node.agent->tail(recorder_.run(), node.index, link.offset, link.seq, 3 * options_.link_s))
            return {};
        int diagnoses = control_.diagnoses();
        auto heard = Clock::now();
        Clock::time_point answered{}; // that the ranks are being stopped
        uint64_t read = node.agent->bytes_read();
        LinkState state = LinkState::silent;
        bool heard_of = false; // since the tail began
        std::string hint; // what Slurm says of a job that waits
        while (!control_.detached()) {
            if (const auto order = control_.order(); order && !link.stop_sent) {
                // Ranks whose peers are dead wait in a collective: asking them long is of no use.
                const double grace_s = order->status == RunState::cancelled ? options_.stop_grace_s : kGangGraceSeconds;
                if (!node.agent->stop(recorder_.run(), node.index, order->status, order->why, order->error, grace_s))
                    return {};
                link.stop_sent = true;
            }
            if (control_.diagnoses() != diagnoses && node.index != 0) {
                diagnoses = control_.diagnoses();
                if (!node.agent->diagnose(recorder_.run(), node.index))
                    return {};
            }
            auto message = node.agent->tail_next(kListen);
            if (!message) {
                const ProblemCode code = message.error().code;
                if (code == ProblemCode::not_found)
                    return gone(node, message.error());
                if (!heard_of || code == ProblemCode::io)
                    link.trouble = message.error();
                return {};
            }
            if (node.agent->bytes_read() != read) { // part of a frame is a sign of life too, on a slow line
                read = node.agent->bytes_read();
                heard = Clock::now();
            }
            if (message->kind == TailMessage::Kind::nothing) {
                const auto silence = Clock::now() - heard;
                if (silence > link_s)
                    return {};
                if (silence > link_s / 2 && state == LinkState::connected)
                    post_link(node, state = LinkState::silent);
                continue;
            }
            heard_of = true;
            link.attempts.reached();
            if (state != LinkState::connected)
                post_link(node, state = LinkState::connected);
            if (message->kind == TailMessage::Kind::heartbeat && message->state == "queued" && message->hint != hint) {
                hint = message->hint;
                mailbox_.post([this, text = "Slurm: " + hint] { observer_.on_state(RunState::launching, text); });
            }
            if (message->kind == TailMessage::Kind::heartbeat && message->note != link.note
                && !(message->note.empty() && control_.order())) {
                link.note = message->note;
                post_note(node, link.note.empty() ? "all is well again" : link.note);
            }
            if (message->kind == TailMessage::Kind::end)
                return Ending{message->status, {}, false, message->why, link.offset, message->bytes};
            // An agent that answers sees to its ranks itself.
            if (message->kind == TailMessage::Kind::heartbeat && message->state == "stopping")
                answered = Clock::now();
            const bool sees_to_it = Clock::now() - answered < kAnswered
                && !control_.ordered_before(time_to_end(node) + std::chrono::duration<double>(options_.save_s));
            if (control_.ordered_before(time_to_end(node)) && !sees_to_it)
                return unended(node, link.note);
            if (message->kind == TailMessage::Kind::skipped) {
                link.offset = message->offset + message->bytes;
                mailbox_.post(
                    [this, index = node.index, said = *message] { recorder_.skip(index, said.offset, said.bytes); });
            }
            if (message->kind == TailMessage::Kind::heartbeat && message->state == "stopping" && !link.stop_sent)
                mailbox_.post([this, index = node.index, said = *message] { stops_by_itself(index, said); });
            if (message->kind == TailMessage::Kind::lines) {
                const int64_t begin = message->offset;
                link.offset = begin + static_cast<int64_t>(message->lines.size());
                link.seq = next_after(message->lines, link.seq);
                mailbox_.post([this, index = node.index, begin, lines = std::move(message->lines)] {
                    take(index, begin, lines);
                });
            }
        }
        return {};
    }

    // There is no such run on the node.
    Ending gone(const Node& node, Problem problem) const
    {
        if (!options_.was_launching || recorder_.next_seq(node.index) > 0)
            return {"lost", std::move(problem), false, {}, 0, 0};
        return {"fail",
            Problem{ProblemCode::failed, "the program that launched the run ended before its ranks were started",
                "nothing of it runs: launch it again", node.name},
            false, {}, 0, 0};
    }

    // Asking, waiting, killing, and Slurm's own way of it.
    [[nodiscard]] std::chrono::duration<double> time_to_end(const Node& node) const
    {
        constexpr double kOfSlurm = 120;
        return std::chrono::duration<double>(
            options_.give_up_s + options_.stop_grace_s + 30 + (node.rank_nodes.empty() ? 0 : kOfSlurm));
    }
    Ending unended(const Node& node, const std::string& note) const
    {
        return {"lost",
            Problem{ProblemCode::failed, "its ranks have not ended" + (note.empty() ? "" : ": " + note),
                "`fourfold stop " + recorder_.run() + "` tries again", node.name},
            true, {}, 0, 0};
    }

    void fetch_logs(Node& node)
    {
        const auto status = node.agent->status(recorder_.run(), node.index);
        if (!status)
            return;
        std::size_t ranks = 1;
        for (const Node& each : nodes_)
            ranks += each.ranks.size();
        const uint64_t most = std::min<uint64_t>(kLogBytes, kAllLogBytes / ranks);
        for (std::size_t i = 0; i < node.ranks.size(); ++i) {
            const std::string name = "rank" + std::to_string(node.ranks[i]) + ".log";
            const int folder = i < node.rank_nodes.size() ? node.rank_nodes[i] : node.index;
            const auto text = node.agent->fetch(recorder_.run(), folder, name, most);
            if (text)
                (void)recorder_.write_file(name, *text);
        }
    }

    void post_note(const Node& node, const std::string& note)
    {
        mailbox_.post([this, text = node.name + ": " + note] { observer_.on_state(now(), text); });
    }
    void post_link(const Node& node, LinkState state)
    {
        mailbox_.post([this, state, name = node.name] { observer_.on_link(state, name); });
    }
    void post_end(int node, Ending ending)
    {
        mailbox_.post([this, node, ending = std::move(ending)] { ended(node, ending); });
    }

    std::vector<Node>& nodes_;
    Recorder& recorder_;
    RunObserver& observer_;
    Mailbox& mailbox_;
    const FollowOptions& options_;
    FollowControl control_;
    Causes causes_;
    std::optional<Ending> first_bad_;
    int first_bad_node_ = 0, first_to_stop_ = -1;
    std::optional<Problem> left_; // why the run is not followed any more
    std::optional<Problem> given_up_;
    bool stop_seen_ = false, told_full_ = false;
    std::vector<Json> stalled_; // what each node's ranks do, since the first node said that nothing moves
};

} // namespace

FollowResult follow(std::vector<Node>& nodes, Recorder& recorder, RunObserver& observer, Mailbox& mailbox,
    std::stop_token stop, const FollowOptions& options)
{
    return Follower(nodes, recorder, observer, mailbox, options).run(stop);
}

} // namespace fourfold
