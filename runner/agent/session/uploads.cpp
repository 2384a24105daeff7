// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/session/uploads.h"

#include "runner/protocol/chunk.h"
#include "runner/protocol/message.h"

#include <algorithm>

namespace fourfold {

namespace {
constexpr double kConnectSeconds = 5;
constexpr int kSilentSenderMs = 5000; // then its computer may be asleep: another sender may go on with the file

// One file while it arrives: where in it the pieces are, and who still needs them.
class Arrival {
public:
    Arrival(std::optional<Incoming> own, std::optional<uint64_t> next_from, Downstream* next)
        : own_(std::move(own))
        , next_(next_from ? next : nullptr)
        , had_own_(own_)
    {
        position_ = std::min(own_ ? own_->offset() : UINT64_MAX, next_from.value_or(UINT64_MAX));
        if (next_)
            next_->from(position_);
    }
    [[nodiscard]] uint64_t position() const { return position_; }

    // The sender begins earlier than it was asked to: another node needs more.
    void from(uint64_t offset)
    {
        if (offset > position_)
            problem_
                = Problem{ProblemCode::network, "the pieces of a file do not begin where they were asked to", {}, {}};
        position_ = offset;
        if (next_)
            next_->from(offset);
    }

    void piece(std::string_view compressed)
    {
        if (next_)
            next_->piece(compressed);
        const uint64_t begin = position_;
        const std::size_t bytes = raw_size(compressed);
        position_ += bytes;
        if (own_ && silent_ && !own_->take_back())
            own_.reset();
        silent_ = false;
        if (problem_ || !own_ || (bytes > 0 && position_ <= own_->offset()))
            return; // after a failed write the rest is dropped, so that the answer stands where the sender looks for it
        const auto raw = expand_chunk(compressed);
        const auto written = raw
            ? own_->append(std::string_view(*raw).substr(static_cast<std::size_t>(own_->offset() - begin)))
            : Expected<void>(raw.error());
        if (!written)
            problem_ = written.error();
    }

    void sender_is_silent()
    {
        if (own_ && !silent_)
            own_->let_go();
        silent_ = true;
    }
    // Another session went on with the file while the sender was silent.
    [[nodiscard]] bool taken_over() const { return had_own_ && !own_; }

    // After the last piece.
    Expected<void> finish(Store& store)
    {
        if (next_)
            next_->end();
        if (own_ && silent_ && !own_->take_back())
            own_.reset();
        const auto own = problem_ ? Expected<void>(*problem_)
            : own_                ? store.finish(*std::move(own_))
                                  : Expected<void>();
        if (next_)
            next_->finish();
        return own;
    }

private:
    std::optional<Incoming> own_; // none when this node has the file, or another session receives it
    Downstream* next_;
    uint64_t position_ = 0;
    bool had_own_, silent_ = false;
    std::optional<Problem> problem_;
};

} // namespace

Expected<void> Uploads::have(const Json& request)
{
    Json found = Json::array(), missing = Json::array();
    for (const Json& item : array_field(request, "files")) {
        const std::string sha256 = text_field(item, "sha256");
        const int64_t size = integer_field(item, "size", -1);
        if (!is_sha256(sha256) || size < 0)
            return Problem{ProblemCode::bad_input, "a file of the list has no SHA-256 or size", {}, {}};
        std::vector<std::string> candidates;
        for (const Json& candidate : array_field(item, "candidates")) {
            if (candidate.is_string())
                candidates.push_back(candidate.get<std::string>());
        }
        auto place = node_.store->find(sha256, static_cast<uint64_t>(size), candidates);
        if (!place && !text_field(item, "library").empty()) {
            const auto installed = installed_.find(text_field(item, "library"), static_cast<uint64_t>(size));
            place = node_.store->find(sha256, static_cast<uint64_t>(size), installed);
            candidates.insert(candidates.end(), installed.begin(), installed.end());
        }
        if (!place) // somebody else's is not used where it is
            place = node_.store->copy(sha256, static_cast<uint64_t>(size), candidates);
        if (place)
            found.push_back(
                {{"sha256", sha256}, {"path", *place == node_.store->place(sha256) ? std::string() : place->string()}});
        else
            missing.push_back(sha256);
    }
    wire_.send({{"is", "have"}, {"found", std::move(found)}, {"missing", std::move(missing)}});
    return {};
}

Expected<void> Uploads::put(const Json& request)
{
    const std::string sha256 = text_field(request, "sha256");
    const int64_t size = integer_field(request, "size", -1);
    if (!is_sha256(sha256) || size < 0)
        return Problem{ProblemCode::bad_input, "the file has no SHA-256 or size", {}, {}};
    const bool present = node_.store->find(sha256, static_cast<uint64_t>(size), {}).has_value();
    std::optional<Incoming> incoming;
    if (!present) {
        FOURFOLD_TRY(incoming, node_.store->begin(sha256, static_cast<uint64_t>(size), flag_field(request, "beside")));
    }
    Downstream* next = next_ && (for_chain_ || flag_field(request, "chain")) ? &*next_ : nullptr;
    const auto next_from = next ? next->begin(sha256, static_cast<uint64_t>(size)) : std::nullopt;
    if (!incoming && !next_from) {
        Json answer = {{"is", "put"}, {"state", present ? "present" : "busy"}};
        if (!present) {
            const Store::Rival rival = node_.store->rival(sha256);
            answer.update(Json{{"offset", rival.bytes}, {"sender", rival.process}});
        }
        wire_.send(answer);
        return {};
    }
    Arrival arrival(std::move(incoming), next_from, next);
    wire_.send({{"is", "put"}, {"state", "send"}, {"offset", arrival.position()}});
    while (wire_.open()) {
        const auto frame = wire_.next_frame(kSilentSenderMs);
        if (!frame) {
            arrival.sender_is_silent();
            continue;
        }
        if (frame->kind == FrameKind::data) {
            arrival.piece(frame->payload);
            continue;
        }
        const auto json = parse_json(frame->payload, "request");
        const std::string what = json ? text_field(*json, "do") : std::string();
        if (what == "put-from") {
            arrival.from(static_cast<uint64_t>(std::max<int64_t>(0, integer_field(*json, "offset"))));
            continue;
        }
        if (what != "put-end")
            return Problem{ProblemCode::bad_input, "a file must end with put-end", {}, {}};
        FOURFOLD_CHECK(arrival.finish(*node_.store));
        const bool stored = !arrival.taken_over() || node_.store->find(sha256, static_cast<uint64_t>(size), {});
        wire_.send({{"is", "stored"}, {"state", stored ? "stored" : "busy"}});
        return {};
    }
    return {}; // what arrived stays and is continued
}

Expected<void> Uploads::chain(const Json& request)
{
    const auto link = chain_link(request);
    if (!link)
        return Problem{ProblemCode::bad_input, "the request names no next node", {}, {}};
    next_.reset();
    FOURFOLD_TRY(next_, Downstream::connect(*link, kConnectSeconds));
    wire_.send({{"is", "chained"}});
    return {};
}

Expected<void> Uploads::relay(const Json& request)
{
    relay_.reset();
    FOURFOLD_TRY(ServerProcess server,
        start_relay(text_field(request, "address"), text_field(request, "token"),
            [&node = node_, next = chain_link(object_field(request, "next"))](
                int fd) { take_files(fd, fd, node.base, node.group_writable, next); }));
    const int port = server.port();
    relay_ = std::make_unique<ServerProcess>(std::move(server));
    wire_.send({{"is", "relaying"}, {"port", port}});
    return {};
}

void Uploads::end()
{
    relay_.reset();
    next_.reset();
}

void take_files(int in, int out, const std::filesystem::path& base, const GroupFolders& group_writable,
    const std::optional<ChainLink>& next)
{
    Wire wire(in, out);
    const NodeBase node{base, group_writable, std::make_unique<Store>(base, group_writable)};
    std::optional<Downstream> further;
    if (next) {
        if (auto connected = Downstream::connect(*next, kConnectSeconds))
            further = *std::move(connected);
    }
    Uploads uploads(wire, node, std::move(further));
    wire.serve([&](const Json& request) -> Expected<void> {
        if (text_field(request, "do") != "put")
            return Problem{ProblemCode::refused, "a node of the chain may only send files", {}, {}};
        return uploads.put(request);
    });
}

} // namespace fourfold
