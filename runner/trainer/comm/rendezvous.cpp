// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/rendezvous.h"

#include "core/base/json.h"
#include "runner/trainer/comm/store_server.h"

#include <fcntl.h>

#include <map>

namespace fourfold::trainer {

namespace {
std::chrono::milliseconds millis(double seconds)
{
    return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}
constexpr double kGraceSeconds = 10;

std::string present(int rank)
{
    return "present/" + std::to_string(rank);
}
std::string done(int rank)
{
    return "done/" + std::to_string(rank);
}
std::vector<std::string> of_all(const Job& job, std::string (*key)(int))
{
    std::vector<std::string> keys;
    for (int rank = 0; rank < job.world_size; ++rank)
        keys.push_back(key(rank));
    return keys;
}

// A Problem on its way to the other ranks.
std::string to_text(const Problem& problem)
{
    return Json{int(problem.code), problem.message, problem.hint, problem.where}.dump();
}
Problem problem_from(const std::string& text)
{
    const Json parts = Json::parse(text); // of rank 0, which is this program
    return {static_cast<ProblemCode>(parts[0].get<int>()), parts[1].get<std::string>(), parts[2].get<std::string>(),
        parts[3].get<std::string>()};
}

// The socket that the agent has kept for rank 0 since it told the others the port. Without one, as where a container
// has closed it, rank 0 takes the port itself.
Expected<FileDescriptor> listener_of(const Job& job)
{
    if (is_listening(job.listener, job.master_port)) {
        fcntl(job.listener, F_SETFD, FD_CLOEXEC);
        return FileDescriptor(job.listener);
    }
    FOURFOLD_TRY(Listener own, listen_on(job.master_address, job.master_port));
    return std::move(own.socket);
}
} // namespace

struct Rendezvous::State {
    Job job;
    std::unique_ptr<StoreServer> server; // on rank 0
    std::shared_ptr<StoreClient> client; // null: job of one rank
    std::map<std::string, std::string> alone; // what a job of one rank published

    [[nodiscard]] std::string where() const { return job.master_address + ":" + std::to_string(job.master_port); }
};

Rendezvous::Rendezvous(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
Rendezvous::~Rendezvous() = default;

const std::shared_ptr<StoreClient>& Rendezvous::line() const
{
    return state_->client;
}

Expected<std::shared_ptr<Rendezvous>> Rendezvous::join(const Job& job)
{
    auto state = std::make_unique<State>();
    state->job = job;
    if (job.world_size == 1)
        return std::shared_ptr<Rendezvous>(new Rendezvous(std::move(state)));
    const auto problem = [&](const char* what, const Problem& why) {
        return Problem{ProblemCode::network, what + why.message,
            why.hint.empty() ? "check MASTER_ADDR, MASTER_PORT and the firewall" : why.hint, state->where()};
    };
    if (job.rank == 0) {
        auto listener = listener_of(job);
        auto server = listener ? StoreServer::start(*std::move(listener), job.token)
                               : Expected<std::unique_ptr<StoreServer>>(listener.error());
        if (!server)
            return problem("rank 0 cannot serve the meeting point: ", server.error());
        state->server = *std::move(server);
    }
    auto client = StoreClient::connect({job.master_address, job.master_port, job.token}, millis(job.timeout_s));
    const auto here = client ? (*client)->set(present(job.rank), "") : Expected<void>(client.error());
    if (!here)
        return problem("cannot reach rank 0: ", here.error());
    state->client = *std::move(client);
    return std::shared_ptr<Rendezvous>(new Rendezvous(std::move(state)));
}

Expected<std::shared_ptr<StoreClient>> Rendezvous::another_line() const
{
    return state_->client ? state_->client->again() : std::shared_ptr<StoreClient>();
}

Expected<void> Rendezvous::meet()
{
    return agree("who came", [this]() -> Expected<void> {
        if (!state_->client)
            return {};
        const Job& job = state_->job;
        FOURFOLD_TRY(const auto missing, state_->client->missing(of_all(job, present), millis(job.timeout_s)));
        if (missing.empty())
            return {};
        std::string ranks;
        for (const std::size_t rank : missing)
            ranks += " " + std::to_string(rank);
        return Problem{ProblemCode::network,
            std::to_string(missing.size()) + " of " + std::to_string(job.world_size) + " ranks did not come within "
                + std::to_string(static_cast<int>(job.timeout_s)) + " s: rank" + ranks,
            "see their logs", state_->where()};
    });
}

Expected<void> Rendezvous::agree(const std::string& about, const std::function<Expected<void>()>& of_rank_zero)
{
    const std::string key = "agreed/" + about;
    const Job& job = state_->job;
    if (job.rank == 0 || !state_->client) {
        auto found = of_rank_zero();
        FOURFOLD_CHECK(publish(key, found ? "" : to_text(found.error())));
        return found;
    }
    // Rank 0 may have begun to wait later than this rank.
    const auto told = state_->client->get(key, millis(job.timeout_s + kGraceSeconds));
    if (!told)
        return Problem{ProblemCode::network, "lost rank 0 while waiting for the others: " + told.error().message, "",
            state_->where()};
    if (told->empty())
        return {};
    return problem_from(*told);
}

Expected<void> Rendezvous::publish(const std::string& key, const std::string& value)
{
    if (!state_->client) {
        state_->alone[key] = value;
        return {};
    }
    if (const auto set = state_->client->set(key, value); !set)
        return Problem{ProblemCode::network, "lost rank 0: " + set.error().message, "", ""};
    return {};
}

Expected<std::vector<std::string>> Rendezvous::read(const std::vector<std::string>& keys)
{
    if (state_->client) {
        auto values = state_->client->get(keys, millis(state_->job.timeout_s));
        if (!values)
            values.error().code = ProblemCode::network;
        return values;
    }
    std::vector<std::string> values;
    for (const std::string& key : keys)
        values.push_back(state_->alone[key]);
    return values;
}

void Rendezvous::leave()
{
    if (!state_->client)
        return;
    // The training is over: a peer that left without a word harms nobody any more.
    (void)state_->client->set(done(state_->job.rank), "");
    if (state_->job.rank == 0)
        (void)state_->client->missing(of_all(state_->job, done), millis(kGraceSeconds));
}

} // namespace fourfold::trainer
