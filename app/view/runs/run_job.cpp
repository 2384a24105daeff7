// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/run_job.h"

#include "core/base/input_file.h"
#include "runner/runs/stop.h"
#include "runner/runs/watch.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>

namespace fourfold::view {

namespace {
constexpr std::size_t kMostLineBytes = 16u << 20;
constexpr std::size_t kMostWaiting = 20'000; // stored events that are read ahead of the owner
} // namespace

// Shared by the two threads: the observer fills it on the run's, take() empties it on the owner's.
class RunJob::Mailbox : public RunObserver {
public:
    // `catches_up`: the run began before, and what this computer has of it is told first.
    Mailbox(std::stop_token stop, bool catches_up, std::function<void()> wake)
        : stop_(std::move(stop))
        , follows_(catches_up)
        , catches_up_(catches_up)
        , wake_(std::move(wake))
    {
    }

    void on_created(const std::string& id, const std::filesystem::path& folder) override
    {
        put(RunCreated{id, folder, follows_});
        if (catches_up_)
            tell_stored(folder / "events.jsonl");
    }
    void on_state(RunState state, const std::string& what) override { put(RunStateChange{state, what}); }
    void on_staging(double fraction, const std::string& what) override { put(RunStaging{fraction, what}); }
    void on_link(LinkState state, const std::string& host) override { put(RunLink{state, host}); }
    void on_event(const Json& event) override { put(event); }
    void on_right_answer() override { put(RightAnswer{}); }
    bool trust_host_key(const HostKeyQuestion& question) override { return ask(question, trusted_).value_or(false); }
    std::optional<std::string> secret(const SecretQuestion& question) override
    {
        return ask(question, secret_).value_or(std::nullopt);
    }

    void answer_host_key(bool trusted) { answer(trusted_, trusted); }
    void answer_secret(const std::optional<std::string>& secret) { answer(secret_, secret); }
    // Whether what this computer has of the run is told first.
    void set_catches_up(bool catches_up) { catches_up_ = catches_up; }
    // After a stop request: what still has to be done may need answers.
    void ask_again() { stop_ = {}; }

    void put(RunMessage message)
    {
        {
            const std::scoped_lock lock(mutex_);
            messages_.push_back(std::move(message));
            if (messages_.size() > 1)
                return; // the owner was woken for the first
        }
        wake_();
    }

    std::vector<RunMessage> take(std::size_t most)
    {
        const std::scoped_lock lock(mutex_);
        std::vector<RunMessage> taken;
        for (; !messages_.empty() && taken.size() < most; messages_.pop_front())
            taken.push_back(std::move(messages_.front()));
        return taken;
    }

    std::size_t waiting()
    {
        const std::scoped_lock lock(mutex_);
        return messages_.size();
    }

private:
    // The recorder has opened the file: what comes from the node follows its last line.
    void tell_stored(const std::filesystem::path& file)
    {
        if (!open_regular(file))
            return;
        std::ifstream lines(file);
        std::string line;
        for (bool whole = true; read_line(lines, line, kMostLineBytes, whole) && whole && !stop_.stop_requested();) {
            if (Expected<Json> event = parse_json(line, file.string()))
                put(*std::move(event));
            while (waiting() > kMostWaiting && !stop_.stop_requested())
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
    // A stop request while the question is open leaves it without an answer.
    template <typename Answer>
    std::optional<Answer> ask(RunMessage question, std::optional<Answer>& slot)
    {
        {
            const std::scoped_lock lock(mutex_);
            slot.reset(); // an answer to a question of before
        }
        put(std::move(question));
        std::unique_lock lock(mutex_);
        answered_.wait(lock, stop_, [&] { return slot.has_value(); });
        return std::exchange(slot, {});
    }
    template <typename Answer>
    void answer(std::optional<Answer>& slot, const Answer& value)
    {
        const std::scoped_lock lock(mutex_);
        slot = value;
        answered_.notify_all();
    }

    std::stop_token stop_;
    bool follows_, catches_up_;
    std::function<void()> wake_;
    std::mutex mutex_;
    std::condition_variable_any answered_;
    std::deque<RunMessage> messages_;
    std::optional<bool> trusted_;
    std::optional<std::optional<std::string>> secret_;
};

RunJob::RunJob(std::function<void()> wake)
    : wake_(std::move(wake))
{
}

RunJob::~RunJob()
{
    if (!is_running())
        return;
    thread_.request_stop();
    thread_.join();
}

void RunJob::begin(Work kind, std::function<RunMessage(Mailbox&, std::stop_token)> work)
{
    stopping_ = false;
    work_ = kind;
    std::stop_source source;
    mailbox_ = std::make_shared<Mailbox>(source.get_token(), kind == Work::follow, wake_);
    thread_ = std::jthread([work = std::move(work), mailbox = mailbox_, source](const std::stop_token& stop) mutable {
        const std::stop_callback forward(stop, [&source] { source.request_stop(); });
        mailbox->put(work(*mailbox, stop));
    });
}

void RunJob::start(RunRequest request)
{
    begin(Work::run, [request = std::move(request)](Mailbox& mailbox, std::stop_token stop) -> RunMessage {
        return RunEnded{launch(request, mailbox, std::move(stop))};
    });
}

void RunJob::follow(const std::string& run_id, const std::filesystem::path& history_file, bool all_events)
{
    end_followed_ = std::make_shared<std::atomic<bool>>(false);
    begin(Work::follow,
        [run_id, history_file, all_events, end = end_followed_](Mailbox& mailbox, std::stop_token stop) -> RunMessage {
            const auto follow = [&] { return attach(run_id, mailbox, stop, history_file, all_events); };
            Expected<RunResult> outcome = follow();
            while (!outcome && outcome.error().code == ProblemCode::refused && !stop.stop_requested()) {
                mailbox.set_catches_up(false); // it is told from its first event on
                outcome = watch_run(run_id, mailbox, stop, history_file);
                mailbox.set_catches_up(true);
                if (outcome && !stop.stop_requested())
                    outcome = follow();
            }
            if (!*end || (outcome && is_terminal(outcome->state)))
                return RunEnded{std::move(outcome)};
            mailbox.ask_again(); // a passphrase, for instance
            return RunEnded{stop_run(run_id, mailbox, {}, history_file)};
        });
}

void RunJob::check(Target target, bool speeds)
{
    begin(Work::check, [target = std::move(target), speeds](Mailbox& mailbox, std::stop_token stop) -> RunMessage {
        return NodesChecked{
            probe_target(target, mailbox, std::move(stop), speeds ? LookFor::speeds : LookFor::trouble)};
    });
}

void RunJob::find(FindQuestions questions)
{
    begin(Work::find, [questions = std::move(questions)](Mailbox& mailbox, std::stop_token stop) -> RunMessage {
        return ClusterFound{find_cluster(questions, mailbox, std::move(stop))};
    });
}

void RunJob::measure(MeasuringJob job)
{
    begin(Work::measure, [job = std::move(job)](Mailbox& mailbox, std::stop_token stop) -> RunMessage {
        return MachineMeasured{measure_machine(job, mailbox, std::move(stop))};
    });
}

void RunJob::sweep(SweepRequest request)
{
    begin(Work::sweep, [request = std::move(request)](Mailbox& mailbox, std::stop_token stop) -> RunMessage {
        const auto moved = [&mailbox](const SweepTable& table, const std::string& next) {
            mailbox.put(SweepMoved{table, next});
        };
        return SweepEnded{measure_sweep(request, mailbox, std::move(stop), moved)};
    });
}

void RunJob::stop()
{
    if (!is_running() || stopping_)
        return;
    stopping_ = true;
    if (is_following())
        *end_followed_ = true;
    thread_.request_stop();
}

void RunJob::detach()
{
    if (is_running() && is_following() && !stopping_)
        thread_.request_stop();
}

void RunJob::leave_behind()
{
    if (is_running())
        thread_.detach(); // is_running() is false from here on
}

void RunJob::answer_host_key(bool trusted)
{
    if (mailbox_)
        mailbox_->answer_host_key(trusted);
}

void RunJob::answer_secret(const std::optional<std::string>& secret)
{
    if (!mailbox_)
        return;
    checking_secret_ = secret.has_value();
    mailbox_->answer_secret(secret);
}

std::size_t RunJob::waiting() const
{
    return mailbox_ ? mailbox_->waiting() : 0;
}

std::vector<RunMessage> RunJob::take(std::size_t most)
{
    if (!mailbox_)
        return {};
    std::vector<RunMessage> messages = mailbox_->take(most);
    const auto is_last = [](const RunMessage& message) {
        return std::holds_alternative<RunEnded>(message) || std::holds_alternative<NodesChecked>(message)
            || std::holds_alternative<ClusterFound>(message) || std::holds_alternative<MachineMeasured>(message)
            || std::holds_alternative<SweepEnded>(message);
    };
    for (const RunMessage& message : messages) {
        if (std::holds_alternative<SecretQuestion>(message) || std::holds_alternative<RightAnswer>(message))
            checking_secret_ = false;
    }
    if (!messages.empty() && is_last(messages.back())) {
        if (thread_.joinable())
            thread_.join();
        mailbox_.reset();
        stopping_ = checking_secret_ = false;
    }
    return messages;
}

} // namespace fourfold::view
