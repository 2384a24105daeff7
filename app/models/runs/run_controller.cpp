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

struct Created {
    QString id, folder;
};
struct StateChange {
    RunState state;
    QString what;
};
struct Staging {
    double fraction;
    QString what;
};
struct LinkChange {
    LinkState state;
    QString host;
};
struct SweepMove {
    SweepTable table;
    std::string next;
};
struct RunEnd {
    Expected<RunResult> outcome;
};
struct CheckEnd {
    Expected<ProbeReport> report;
};
struct SweepEnd {
    Expected<SweepTable> outcome;
};
using AnyMessage = std::variant<Created, StateChange, Staging, LinkChange, Json, HostKeyQuestion, SecretQuestion,
    SweepMove, RunEnd, CheckEnd, SweepEnd>;
} // namespace

struct RunController::Message {
    AnyMessage content;
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
        put({Created{fromUtf8(id), exactText(folder.string())}});
        if (m_catchesUp)
            tellStored(folder / "events.jsonl");
    }
    void on_state(RunState state, const std::string& what) override { put({StateChange{state, fromUtf8(what)}}); }
    void on_staging(double fraction, const std::string& what) override { put({Staging{fraction, fromUtf8(what)}}); }
    void on_link(LinkState state, const std::string& host) override { put({LinkChange{state, fromUtf8(host)}}); }
    void on_event(const Json& event) override { put({event}); }

    bool trust_host_key(const HostKeyQuestion& question) override { return ask({question}, m_trusted).value_or(false); }
    std::optional<std::string> secret(const SecretQuestion& question) override
    {
        return ask({question}, m_secret).value_or(std::nullopt);
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
    std::optional<Answer> ask(Message question, std::optional<Answer>& slot)
    {
        std::unique_lock lock(m_mutex);
        m_messages.push_back(std::move(question));
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

void RunController::start(RunRequest request)
{
    begin(Work::run, [request = std::move(request)](Mailbox& mailbox, std::stop_token stop) -> Message {
        return {RunEnd{launch(request, mailbox, std::move(stop))}};
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
                return {RunEnd{std::move(outcome)}};
            mailbox.askAgain(); // a passphrase, for instance
            return {RunEnd{stop_run(id, mailbox, {}, historyFile)}};
        });
}

void RunController::check(Target target, const std::filesystem::path& agent, bool speeds)
{
    begin(Work::check, [target = std::move(target), agent, speeds](Mailbox& mailbox, std::stop_token stop) -> Message {
        return {CheckEnd{probe_target(target, mailbox, std::move(stop), speeds, agent)}};
    });
}

void RunController::sweep(SweepRequest request)
{
    begin(Work::sweep, [request = std::move(request)](Mailbox& mailbox, std::stop_token stop) -> Message {
        return {SweepEnd{measure_sweep(
            request, mailbox, std::move(stop), [&mailbox](const SweepTable& table, const std::string& next) {
                mailbox.put({SweepMove{table, next}});
            })}};
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
        if (deliver(message))
            return;
    }
    handOver(false);
}

bool RunController::deliver(const Message& message)
{
    const AnyMessage& content = message.content;
    if (const auto* created = std::get_if<Created>(&content))
        emit this->created(created->id, created->folder);
    else if (const auto* change = std::get_if<StateChange>(&content))
        emit stateChanged(change->state, change->what);
    else if (const auto* files = std::get_if<Staging>(&content))
        emit staging(files->fraction, files->what);
    else if (const auto* link = std::get_if<LinkChange>(&content))
        emit linkChanged(link->state, link->host);
    else if (const auto* key = std::get_if<HostKeyQuestion>(&content))
        emit hostKeyAsked(*key);
    else if (const auto* secret = std::get_if<SecretQuestion>(&content))
        emit secretAsked(*secret);
    else if (const auto* move = std::get_if<SweepMove>(&content))
        emit sweepMoved(move->table, move->next);
    else {
        m_timer.stop();
        m_thread.join();
        m_mailbox.reset();
        m_stopping = false;
        if (const auto* run = std::get_if<RunEnd>(&content))
            emit finished(run->outcome);
        else if (const auto* look = std::get_if<CheckEnd>(&content))
            emit checked(look->report);
        else if (const auto* table = std::get_if<SweepEnd>(&content))
            emit sweepEnded(table->outcome);
        emit workChanged();
        return true;
    }
    return false;
}

} // namespace fourfold::ui
