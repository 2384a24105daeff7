// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/run_controller.h"

#include "app/models/text.h"

#include <condition_variable>
#include <mutex>
#include <variant>

namespace fourfold::ui {

namespace {
constexpr int kBatchMilliseconds = 100;

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
using Finished = Expected<RunResult>;
using Message = std::variant<Created, StateChange, Staging, LinkChange, Json, HostKeyQuestion, Finished>;
} // namespace

// Shared by the two threads: the observer fills it on the run's thread, drain() empties it on the window's.
class RunController::Mailbox : public RunObserver {
public:
    explicit Mailbox(std::stop_token stop)
        : m_stop(std::move(stop))
    {
    }

    void on_created(const std::string& id, const std::filesystem::path& folder) override
    {
        put(Created{fromUtf8(id), fromUtf8(folder.string())});
    }
    void on_state(RunState state, const std::string& what) override { put(StateChange{state, fromUtf8(what)}); }
    void on_staging(double fraction, const std::string& what) override { put(Staging{fraction, fromUtf8(what)}); }
    void on_link(LinkState state, const std::string& host) override { put(LinkChange{state, fromUtf8(host)}); }
    void on_event(const Json& event) override { put(event); }

    bool trust_host_key(const HostKeyQuestion& question) override
    {
        std::unique_lock lock(m_mutex);
        m_messages.emplace_back(question);
        m_answer.reset();
        // A stop request while the question is open means no.
        m_answered.wait(lock, m_stop, [this] { return m_answer.has_value(); });
        return m_answer.value_or(false);
    }

    void answer(bool trusted)
    {
        const std::scoped_lock lock(m_mutex);
        m_answer = trusted;
        m_answered.notify_all();
    }

    void put(Message message)
    {
        const std::scoped_lock lock(m_mutex);
        m_messages.push_back(std::move(message));
    }

    std::vector<Message> take()
    {
        const std::scoped_lock lock(m_mutex);
        return std::exchange(m_messages, {});
    }

private:
    std::stop_token m_stop;
    std::mutex m_mutex;
    std::condition_variable_any m_answered;
    std::vector<Message> m_messages;
    std::optional<bool> m_answer;
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
    m_following = false;
    run([request = std::move(request)](
            RunObserver& observer, std::stop_token stop) { return launch(request, observer, std::move(stop)); });
}

void RunController::follow(const QString& runId, const std::filesystem::path& historyFile)
{
    m_following = true;
    run([id = runId.toStdString(), historyFile](RunObserver& observer, std::stop_token stop) {
        return attach(id, observer, std::move(stop), historyFile);
    });
}

void RunController::run(std::function<Expected<RunResult>(RunObserver&, std::stop_token)> work)
{
    Q_ASSERT(!isRunning());
    m_stopping = false;
    std::stop_source source;
    m_mailbox = std::make_shared<Mailbox>(source.get_token());
    m_thread = std::jthread([work = std::move(work), mailbox = m_mailbox, source](const std::stop_token& stop) mutable {
        const std::stop_callback forward(stop, [&source] { source.request_stop(); });
        mailbox->put(work(*mailbox, stop));
    });
    m_timer.start();
    emit started();
}

void RunController::leaveBehind()
{
    if (!isRunning())
        return;
    m_timer.stop();
    m_thread.detach(); // isRunning() is false from here on
}

void RunController::stop()
{
    if (!isRunning() || m_stopping)
        return;
    m_stopping = true;
    m_thread.request_stop();
}

void RunController::answerHostKey(bool trusted)
{
    if (m_mailbox)
        m_mailbox->answer(trusted);
}

void RunController::drain()
{
    if (!m_mailbox)
        return;
    std::vector<Json> events;
    const auto handOver = [&] {
        if (!events.empty())
            emit eventsArrived(std::exchange(events, {}));
    };
    for (Message& message : m_mailbox->take()) {
        if (auto* event = std::get_if<Json>(&message)) {
            events.push_back(std::move(*event));
            continue;
        }
        handOver();
        if (const auto* created = std::get_if<Created>(&message)) {
            emit this->created(created->id, created->folder);
        } else if (const auto* change = std::get_if<StateChange>(&message)) {
            emit stateChanged(change->state, change->what);
        } else if (const auto* files = std::get_if<Staging>(&message)) {
            emit staging(files->fraction, files->what);
        } else if (const auto* link = std::get_if<LinkChange>(&message)) {
            emit linkChanged(link->state, link->host);
        } else if (const auto* question = std::get_if<HostKeyQuestion>(&message)) {
            emit hostKeyAsked(*question);
        } else if (const auto* outcome = std::get_if<Finished>(&message)) {
            m_timer.stop();
            m_thread.join();
            m_mailbox.reset();
            m_stopping = false;
            emit finished(*outcome);
            return;
        }
    }
    handOver();
}

} // namespace fourfold::ui
