// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/run_controller.h"

#include "app/models/shared/text.h"
#include "core/base/input_file.h"
#include "runner/runs/stop.h"

#include <QElapsedTimer>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <variant>

namespace fourfold::ui {

namespace {
constexpr int kBatchMilliseconds = 100;
constexpr qint64 kSliceMilliseconds = 4;
constexpr std::size_t kChunk = 100; // events between looks at the clock
constexpr std::size_t kMostLineBytes = 16u << 20;
constexpr std::size_t kMostWaiting = 20'000; // stored events that are read ahead of the window
} // namespace

// What is told on the window's thread: an event, which is collected, or a signal.
struct RunController::Message {
    std::variant<Json, std::function<void(RunController&)>> content;
    bool isLast = false;
};

// Shared by the two threads: the observer fills it on the run's thread, drain() empties it on the window's. What is
// public is the window's alone: what is left of the batch that is being handed over.
class RunController::Mailbox : public RunObserver {
public:
    // `catchesUp`: the run began before, and what this computer has of it is told first.
    Mailbox(std::stop_token stop, bool catchesUp)
        : m_stop(std::move(stop))
        , m_catchesUp(catchesUp)
    {
    }

    void on_created(const std::string& id, const std::filesystem::path& folder) override
    {
        tell([id = fromUtf8(id), folder = exactText(folder.string())](
                 RunController& to) { emit to.created(id, folder); });
        if (m_catchesUp)
            tellStored(folder / "events.jsonl");
    }
    void on_state(RunState state, const std::string& what) override
    {
        tell([state, what = fromUtf8(what)](RunController& to) { emit to.stateChanged(state, what); });
    }
    void on_staging(double fraction, const std::string& what) override
    {
        tell([fraction, what = fromUtf8(what)](RunController& to) { emit to.staging(fraction, what); });
    }
    void on_link(LinkState state, const std::string& host) override
    {
        tell([state, host = fromUtf8(host)](RunController& to) { emit to.linkChanged(state, host); });
    }
    void on_event(const Json& event) override { put({event}); }
    bool trust_host_key(const HostKeyQuestion& question) override
    {
        return ask([question](RunController& to) { emit to.hostKeyAsked(question); }, m_trusted).value_or(false);
    }
    std::optional<std::string> secret(const SecretQuestion& question) override
    {
        return ask([question](RunController& to) { emit to.secretAsked(question); }, m_secret).value_or(std::nullopt);
    }

    void answerHostKey(bool trusted) { answer(m_trusted, trusted); }
    void answerSecret(const std::optional<std::string>& secret) { answer(m_secret, secret); }

    // After a stop request: what still has to be done may need answers.
    void askAgain() { m_stop = {}; }

    void put(Message message)
    {
        const std::scoped_lock lock(m_mutex);
        m_messages.push_back(std::move(message));
    }

    void tell(std::function<void(RunController&)> signal) { put({std::move(signal)}); }

    std::deque<Message> take()
    {
        const std::scoped_lock lock(m_mutex);
        return std::exchange(m_messages, {});
    }

    std::deque<Message> pending;
    bool owesEnd = false; // more was promised

private:
    // The recorder has opened the file: what comes from the node follows its last line.
    void tellStored(const std::filesystem::path& file)
    {
        if (!open_regular(file))
            return;
        std::ifstream lines(file);
        std::size_t count = 0;
        std::string line;
        for (bool whole = true; read_line(lines, line, kMostLineBytes, whole) && whole && !m_stop.stop_requested();) {
            if (Expected<Json> event = parse_json(line, file.string()))
                put({*std::move(event)});
            while (++count % kChunk == 0 && waiting() > kMostWaiting && !m_stop.stop_requested())
                std::this_thread::sleep_for(std::chrono::milliseconds(kBatchMilliseconds));
        }
    }
    std::size_t waiting()
    {
        const std::scoped_lock lock(m_mutex);
        return m_messages.size();
    }

    // A stop request while the question is open leaves it without an answer.
    template <typename Answer>
    std::optional<Answer> ask(std::function<void(RunController&)> question, std::optional<Answer>& slot)
    {
        std::unique_lock lock(m_mutex);
        m_messages.push_back({std::move(question)});
        slot.reset();
        m_answered.wait(lock, m_stop, [&] { return slot.has_value(); });
        return std::exchange(slot, {});
    }
    template <typename Answer>
    void answer(std::optional<Answer>& slot, const Answer& value)
    {
        const std::scoped_lock lock(m_mutex);
        slot = value;
        m_answered.notify_all();
    }

    std::stop_token m_stop;
    bool m_catchesUp;
    std::mutex m_mutex;
    std::condition_variable_any m_answered;
    std::deque<Message> m_messages;
    std::optional<bool> m_trusted;
    std::optional<std::optional<std::string>> m_secret;
};

RunController::RunController(QObject* parent)
    : QObject(parent)
{
    m_timer.setInterval(kBatchMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &RunController::drain);
}

RunController::~RunController()
{
    if (!isRunning())
        return;
    m_thread.request_stop();
    m_thread.join();
}

// The last message of a piece of work: the signal that hands over what came out.
template <typename Outcome>
RunController::Message RunController::lastOf(void (RunController::*signal)(const Outcome&), Outcome outcome)
{
    return {[signal, outcome = std::move(outcome)](RunController& to) { emit(to.*signal)(outcome); }, true};
}

void RunController::start(RunRequest request)
{
    begin(Work::run, [request = std::move(request)](Mailbox& mailbox, std::stop_token stop) -> Message {
        return lastOf(&RunController::finished, launch(request, mailbox, std::move(stop)));
    });
}

void RunController::follow(const QString& runId, const std::filesystem::path& historyFile, bool allEvents)
{
    m_endFollowed = std::make_shared<std::atomic<bool>>(false);
    begin(Work::follow,
        [id = runId.toStdString(), historyFile, allEvents, end = m_endFollowed](
            Mailbox& mailbox, std::stop_token stop) -> Message {
            Expected<RunResult> outcome = attach(id, mailbox, std::move(stop), historyFile, allEvents);
            if (!*end || (outcome && is_terminal(outcome->state)))
                return lastOf(&RunController::finished, std::move(outcome));
            mailbox.askAgain(); // a passphrase, for instance
            return lastOf(&RunController::finished, stop_run(id, mailbox, {}, historyFile));
        });
}

void RunController::check(Target target, const std::filesystem::path& agent, bool speeds)
{
    begin(Work::check, [target = std::move(target), agent, speeds](Mailbox& mailbox, std::stop_token stop) -> Message {
        return lastOf(&RunController::checked, probe_target(target, mailbox, std::move(stop), speeds, agent));
    });
}

void RunController::sweep(SweepRequest request)
{
    begin(Work::sweep, [request = std::move(request)](Mailbox& mailbox, std::stop_token stop) -> Message {
        const auto moved = [&mailbox](const SweepTable& table, const std::string& next) {
            mailbox.tell([table, next](RunController& to) { emit to.sweepMoved(table, next); });
        };
        return lastOf(&RunController::sweepEnded, measure_sweep(request, mailbox, std::move(stop), moved));
    });
}

void RunController::begin(Work work, std::function<Message(Mailbox&, std::stop_token)> job)
{
    Q_ASSERT(!isRunning());
    m_work = work;
    m_stopping = false;
    std::stop_source source;
    m_mailbox = std::make_shared<Mailbox>(source.get_token(), work == Work::follow);
    m_thread = std::jthread([job = std::move(job), mailbox = m_mailbox, source](const std::stop_token& stop) mutable {
        const std::stop_callback forward(stop, [&source] { source.request_stop(); });
        mailbox->put(job(*mailbox, stop));
    });
    m_timer.start();
    if (work != Work::check)
        emit started();
    emit workChanged();
}

void RunController::leaveBehind()
{
    if (!isRunning())
        return;
    m_timer.stop();
    m_thread.detach(); // isRunning() is false from here on
}

void RunController::detach()
{
    if (isRunning() && isFollowing() && !m_stopping)
        m_thread.request_stop();
}

void RunController::stop()
{
    if (!isRunning() || m_stopping)
        return;
    m_stopping = true;
    if (isFollowing())
        *m_endFollowed = true;
    m_thread.request_stop();
    emit workChanged();
}

void RunController::answerHostKey(bool trusted)
{
    if (m_mailbox)
        m_mailbox->answerHostKey(trusted);
}

void RunController::answerSecret(const std::optional<std::string>& secret)
{
    if (m_mailbox)
        m_mailbox->answerSecret(secret);
}

void RunController::drain()
{
    const std::shared_ptr<Mailbox> mailbox = m_mailbox; // its last message lets go of it
    if (!mailbox)
        return;
    std::deque<Message>& pending = mailbox->pending;
    if (pending.empty())
        pending = mailbox->take();
    QElapsedTimer slice;
    slice.start();
    std::vector<Json> events;
    const auto handOver = [&](bool more) {
        if (events.empty() && (more || !mailbox->owesEnd))
            return;
        mailbox->owesEnd = more;
        emit eventsArrived(std::exchange(events, {}), more);
    };
    while (!pending.empty()) {
        // A question's dialog has an event loop of its own, in which this goes on with what is behind it.
        Message message = std::move(pending.front());
        pending.pop_front();
        if (auto* event = std::get_if<Json>(&message.content)) {
            events.push_back(std::move(*event));
            if (events.size() < kChunk || pending.empty())
                continue;
            handOver(true);
            if (slice.elapsed() >= kSliceMilliseconds) {
                QTimer::singleShot(0, this, &RunController::drain);
                return;
            }
            continue;
        }
        handOver(false);
        deliver(message);
        if (message.isLast)
            return;
    }
    handOver(false);
}

void RunController::deliver(const Message& message)
{
    if (message.isLast) {
        m_timer.stop();
        m_thread.join();
        m_mailbox.reset();
        m_stopping = false;
    }
    std::get<std::function<void(RunController&)>>(message.content)(*this);
    if (message.isLast)
        emit workChanged();
}

} // namespace fourfold::ui
