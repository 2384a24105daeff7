// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/follow.h"

#include "runner/protocol/laggard.h"
#include "runner/protocol/message.h"
#include "runner/runs/follow_control.h"
#include "runner/runs/reconnect.h"
#include "runner/runs/run_state.h"

#include <algorithm>
#include <map>
#include <thread>

namespace fourfold {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kListen = 10ms; // between looks for what the launching thread wants
constexpr double kGangGraceSeconds = 0.04;
constexpr uint64_t kLogBytes = 4u << 20, kAllLogBytes = 1u << 30; // of each rank's log, of all; kept at the end
constexpr std::size_t kMostErrors = 256; // of a node, kept to find the first cause

struct Ending {
    std::string status;
    std::optional<Problem> problem; // when it is not the node that said so
    bool given_up = false; // not known how it ended: the node could not be reached to stop it
};

class Follower {
public:
    Follower(std::vector<Node>& nodes, Recorder& recorder, RunObserver& observer, Mailbox& mailbox,
        const FollowOptions& options)
        : nodes_(nodes)
        , recorder_(recorder)
        , observer_(observer)
        , mailbox_(mailbox)
        , options_(options)
        , errors_(nodes.size())
        , ends_(nodes.size())
    {
    }

    FollowResult run(std::stop_token stop)
    {
        recall();
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
                        begin_stop({"cancelled", "stopped on request", nullptr}, true);
                }
                if (const auto letter = mailbox_.take(20ms))
                    (*letter)();
            }
        }
        return result();
    }

private:
    // What the nodes said about failures and their end before this program came.
    void recall()
    {
        for (std::size_t node = 0; node < nodes_.size(); ++node) {
            const auto lines = recorder_.store().events(recorder_.run(), stream_name(static_cast<int>(node)));
            if (!lines)
                continue;
            for (const std::string& line : *lines) {
                if (line.find("\"error\"") == std::string::npos && line.find("\"end\"") == std::string::npos)
                    continue;
                if (const auto event = parse_json(line, "event"))
                    remember(node, *event);
            }
        }
    }

    void remember(std::size_t node, const Json& event)
    {
        const std::string kind = text_field(event, "event");
        if (kind == "error" && errors_[node].size() < kMostErrors)
            errors_[node].push_back(event);
        else if (kind == "end")
            ends_[node] = event;
    }

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
        auto events = recorder_.take(node, offset, lines);
        if (!events) {
            // What cannot be stored here is still on the nodes.
            leave(events.error(), "make room");
            return;
        }
        if (recorder_.full() && !told_full_) {
            told_full_ = true;
            observer_.on_state(control_.order() ? RunState::stopping : RunState::running, recorder_.full_text());
        }
        for (const Json& event : *events) {
            remember(static_cast<std::size_t>(node), event);
            if (text_field(event, "kind") == "stalled")
                look_for_laggard(static_cast<std::size_t>(node), event);
            if (node == 0)
                observer_.on_event(event);
        }
    }

    // The first node finds that nothing moves; then the others are asked, and the ranks of all are compared.
    void look_for_laggard(std::size_t node, const Json& event)
    {
        if (nodes_.size() < 2)
            return;
        if (node == 0) {
            stalled_.assign(nodes_.size(), Json());
            control_.ask_for_diagnosis();
        }
        if (stalled_.empty())
            return;
        stalled_[node] = array_field(event, "ranks");
        Json all = Json::array();
        for (const Json& ranks : stalled_) {
            if (ranks.is_null())
                return;
            all.insert(all.end(), ranks.begin(), ranks.end());
        }
        observer_.on_state(RunState::running, "stalled: " + name_laggard(all));
    }

    void ended(int node, const Ending& ending)
    {
        const auto at = static_cast<std::size_t>(node);
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
        StopOrder order{ending.status, text_field(ends_[at], "message"), nullptr};
        if (ending.problem)
            order.why = ending.problem->line();
        if (order.why.empty())
            order.why = "the ranks on " + nodes_[at].name + " ended with status " + ending.status;
        order.error = failing_event(at, static_cast<int>(integer_field(ends_[at], "rank", -1)));
        if (nodes_.size() > 1)
            begin_stop(std::move(order), !control_.order());
    }

    // A node ends its ranks on its own account: the others need not wait until it has done so.
    void stops_by_itself(int node, const TailMessage& message)
    {
        if (nodes_.size() < 2 || control_.order() || message.status.empty() || message.status == "ok")
            return;
        first_to_stop_ = node;
        begin_stop({message.status, message.why, failing_event(static_cast<std::size_t>(node), message.rank)}, true);
    }

    // The error event of the rank that the node's agent names as the culprit.
    [[nodiscard]] Json failing_event(std::size_t node, int rank) const
    {
        for (const Json& error : errors_[node]) {
            if (integer_field(error, "rank", -2) == rank)
                return error;
        }
        return errors_[node].empty() ? Json() : errors_[node].front();
    }

    // Whether the ranks of a node only missed a rank that failed, or were told of one.
    [[nodiscard]] static bool of_another(const Json& error)
    {
        return error.is_null() || !text_field(error, "origin", "own").starts_with("own");
    }

    // A node whose ranks only heard of a failure may have been the first to say so: then where a rank says that it
    // began with itself.
    [[nodiscard]] std::optional<Json> better_cause(const Json& error) const
    {
        if (!of_another(error))
            return {};
        for (const auto& errors : errors_) {
            const auto own = std::find_if_not(errors.begin(), errors.end(), of_another);
            if (own != errors.end())
                return *own;
        }
        return {};
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
            Problem problem;
            problem.code = out.state == RunState::cancelled ? ProblemCode::cancelled : ProblemCode::failed;
            problem.message = text_field(ends_[at], "message", "ended with status " + first_bad_->status);
            Json error = failing_event(at, static_cast<int>(integer_field(ends_[at], "rank", -1)));
            if (const auto cause = better_cause(error); cause && out.state != RunState::cancelled) {
                error = *cause;
                problem.message = "rank " + std::to_string(integer_field(error, "rank", -1)) + " on "
                    + text_field(error, "host") + ": " + text_field(error, "message");
                const std::string kind = text_field(error, "kind");
                out.state = run_state(kind == "oom" || kind == "hang" ? kind : "fail");
            }
            std::string last;
            const Json& log = array_field(error, "log");
            for (std::size_t i = log.size() > 3 ? log.size() - 3 : 0; i < log.size(); ++i) {
                if (log[i].is_string())
                    last += (last.empty() ? "" : " | ") + log[i].get<std::string>();
            }
            if (out.state != RunState::cancelled) {
                const auto rank = integer_field(error, "rank", -1);
                const std::string file = (recorder_.folder() / ("rank" + std::to_string(rank) + ".log")).string();
                if (!last.empty())
                    problem.hint = "its log ends with: " + last + "; all of it in " + file;
                else if (std::error_code error; rank >= 0 && std::filesystem::exists(file, error))
                    problem.hint = "see " + file;
            }
            out.problem = problem;
        }
        return out;
    }

    // What the thread of a node knows of its link.
    struct Link {
        int64_t offset = 0, seq = 0; // of what comes next
        bool stop_sent = false;
        std::optional<Problem> trouble; // why the tail ended that has just broken
        Reconnect attempts;
    };

    // On a node's own thread.
    void work(Node& node)
    {
        Link link{recorder_.offset(node.index), recorder_.next_seq(node.index), false, {}, Reconnect()};
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
                if (ending->status != "lost" || !ending->problem)
                    fetch_logs(node);
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

    // Waits; false where no further attempt will help.
    bool tries_again(const Node& node, Link& link, const Problem& problem)
    {
        if (control_.detached())
            return false;
        if (link.attempts.is_news(problem)) {
            mailbox_.post([this, text = problem.line()] {
                observer_.on_state(control_.order() ? RunState::stopping : RunState::running, text);
            });
        }
        const auto wait = link.attempts.wait_after(problem);
        if (control_.ordered_before(std::chrono::duration<double>(options_.give_up_s)) || (!wait && control_.order())) {
            Problem unstopped = problem;
            unstopped.message = "could not be reached to stop its ranks: " + problem.message;
            unstopped.hint = "they may still run; `fourfold stop " + recorder_.run() + "` tries again";
            post_end(node.index, {"lost", unstopped, true});
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
        uint64_t read = node.agent->bytes_read();
        LinkState state = LinkState::silent;
        bool heard_of = false; // since the tail began
        std::string hint; // what Slurm says of a job that waits
        while (!control_.detached()) {
            if (const auto order = control_.order(); order && !link.stop_sent) {
                // Ranks whose peers are dead wait in a collective: asking them long is of no use.
                const double grace_s = order->status == "cancelled" ? options_.stop_grace_s : kGangGraceSeconds;
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
                if (code == ProblemCode::network || code == ProblemCode::refused || code == ProblemCode::bad_input) {
                    if (!heard_of)
                        link.trouble = message.error();
                    return {};
                }
                // The agent itself says that it cannot go on: no such run, a changed folder, a disk error.
                return Ending{"lost", message.error(), false};
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
            if (message->kind == TailMessage::Kind::end)
                return Ending{message->status, {}, false};
            if (message->kind == TailMessage::Kind::heartbeat && message->state == "stopping" && !link.stop_sent)
                mailbox_.post([this, index = node.index, said = *message] { stops_by_itself(index, said); });
            if (message->kind == TailMessage::Kind::lines) {
                const int64_t begin = message->offset;
                link.offset = begin + static_cast<int64_t>(message->lines.size());
                link.seq += std::count(message->lines.begin(), message->lines.end(), '\n');
                mailbox_.post([this, index = node.index, begin, lines = std::move(message->lines)] {
                    take(index, begin, lines);
                });
            }
        }
        return {};
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
    std::vector<std::vector<Json>> errors_; // error events of each node
    std::vector<Json> ends_;
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
