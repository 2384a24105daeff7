// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/agent_client.h"

#include "core/base/text.h"
#include "runner/protocol/message.h"

#include <algorithm>

namespace fourfold {

using namespace std::chrono_literals;

namespace {
// Hashing gigabytes on a slow node file system takes its time; a dead link is found by the transport, not by this.
constexpr auto kReplyTimeout = 60s;
constexpr auto kHashTimeout = 900s;
constexpr auto kPing = 1s; // so that the agent knows that somebody follows

// Nothing that a node says is told with characters that a terminal or a window would obey; no path or name has them.
void make_printable(Json& json)
{
    if (json.is_string())
        json = printable(json.get_ref<const std::string&>(), kUncut);
    if (json.is_structured()) {
        for (Json& value : json)
            make_printable(value);
    }
}
} // namespace

AgentClient::AgentClient(std::unique_ptr<ByteStream> stream, std::string host)
    : stream_(std::move(stream))
    , host_(std::move(host))
{
}

Expected<void> AgentClient::write(std::string_view frame)
{
    auto written = stream_->write_all(frame);
    link_lost_ = link_lost_ || !written;
    return written;
}

Expected<void> AgentClient::send(const Json& request)
{
    const std::string text = to_wire(request);
    if (text.size() > kMaxFrameBytes)
        return Problem{ProblemCode::bad_input, "a request of " + std::to_string(text.size()) + " bytes is too large",
            "the plan or its file list is too large", host_};
    return write(encode_frame(FrameKind::json, text));
}

Expected<std::optional<Frame>> AgentClient::receive_within(std::chrono::milliseconds timeout)
{
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        auto frame = parser_.next();
        if (!frame) {
            frame.error().where = host_;
            return std::move(frame).error();
        }
        if (*frame)
            return frame;
        const auto left
            = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left <= 0ms)
            return std::optional<Frame>{};
        const auto bytes = stream_->read_some(std::min(left, std::chrono::milliseconds(200)));
        if (!bytes) {
            link_lost_ = true;
            return bytes.error();
        }
        bytes_read_ += bytes->size();
        parser_.feed(*bytes);
    }
}

Expected<Frame> AgentClient::receive(std::chrono::milliseconds timeout, bool pings, const std::stop_token& stop)
{
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        const auto left
            = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        link_lost_ = link_lost_ || left <= 0ms || stop.stop_requested(); // the answer may still come
        if (stop.stop_requested())
            return Problem{ProblemCode::cancelled, "stopped before the agent had answered", {}, host_};
        if (left <= 0ms)
            return Problem{ProblemCode::network,
                "the agent did not answer within " + std::to_string(timeout.count() / 1000) + " s",
                "see whether the node is overloaded", host_};
        if (pings)
            FOURFOLD_CHECK(ping());
        FOURFOLD_TRY(auto frame, receive_within(std::min<std::chrono::milliseconds>(left, kPing)));
        if (frame)
            return std::move(*frame);
    }
}

Problem AgentClient::unexpected(const std::string& is, const char* expected) const
{
    return {ProblemCode::network, "the agent answered \"" + is + "\", expected \"" + expected + "\"", {}, host_};
}

Expected<Json> AgentClient::parse(const Frame& frame, const char* expected)
{
    if (frame.kind != FrameKind::json)
        return Problem{ProblemCode::network,
            std::string("data arrived where the answer \"") + expected + "\" was expected", {}, host_};
    FOURFOLD_TRY(Json json, parse_json(frame.payload, host_ + ": agent's answer"));
    make_printable(json);
    const std::string is = text_field(json, "is");
    if (is == "error")
        return problem_from_reply(json, host_);
    if (expected[0] != '\0' && is != expected)
        return unexpected(is, expected);
    return json;
}

Expected<Json> AgentClient::reply(const char* expected, std::chrono::milliseconds timeout, const std::stop_token& stop)
{
    for (;;) {
        FOURFOLD_TRY(const Frame frame, receive(timeout, false, stop));
        FOURFOLD_TRY(Json json, parse(frame, unanswered_stops_ > 0 ? "" : expected));
        const std::string is = text_field(json, "is");
        if (is == expected)
            return json;
        // A stop that met the end of the events on its way is answered after that end.
        if (is != "stopping" || unanswered_stops_ == 0)
            return unexpected(is, expected);
        --unanswered_stops_;
        stop_note_ = text_field(json, "note");
    }
}

Expected<int> AgentClient::port_of(const Json& json, int least) const
{
    const int64_t port = integer_field(json, "port");
    if (port < least || port > 65535)
        return Problem{
            ProblemCode::network, "the agent names port " + std::to_string(port) + ", which is none", {}, host_};
    return static_cast<int>(port);
}

Expected<NodeFacts> AgentClient::hello(const std::string& base, const std::vector<std::string>& group_writable)
{
    FOURFOLD_CHECK(
        send({{"do", "hello"}, {"protocol", kProtocolVersion}, {"base", base}, {"group_writable", group_writable}}));
    FOURFOLD_TRY(const Json json, reply("hello", kReplyTimeout));
    if (integer_field(json, "protocol") != kProtocolVersion)
        return Problem{ProblemCode::unsupported,
            "the agent speaks protocol " + std::to_string(integer_field(json, "protocol")) + ", this program "
                + std::to_string(kProtocolVersion),
            "use the same version of Fourfold that started the run", host_};
    NodeFacts facts;
    facts.hostname = text_field(json, "hostname");
    facts.os = text_field(json, "os");
    facts.kernel = text_field(json, "kernel");
    facts.arch = text_field(json, "arch");
    facts.glibc = text_field(json, "glibc");
    facts.boot_id = text_field(json, "boot_id");
    facts.cores = static_cast<int>(integer_field(json, "cores"));
    facts.memory_gib = number_field(json, "memory_gib");
    facts.memory_available_gib = number_field(json, "memory_available_gib");
    facts.disk_free_gib = number_field(json, "disk_free_gib");
    for (const Json& gpu : array_field(json, "gpus"))
        facts.gpus.push_back({text_field(gpu, "name"), number_field(gpu, "memory_gib")});
    facts.driver = text_field(json, "driver");
    facts.address = text_field(json, "address");
    facts.base = text_field(json, "base");
    if (facts.base.empty() || facts.base[0] != '/')
        return Problem{ProblemCode::network, "the agent names no absolute folder", {}, host_};
    facts.interfaces = array_field(json, "interfaces");
    facts.document = json;
    facts.document.erase("is");
    facts.document.erase("interfaces");
    return facts;
}

Expected<HaveAnswer> AgentClient::have(const std::vector<WantedFile>& files, const std::stop_token& stop)
{
    Json list = Json::array();
    for (const WantedFile& file : files)
        list.push_back(
            {{"sha256", file.sha256}, {"size", file.size}, {"candidates", file.candidates}, {"library", file.library}});
    FOURFOLD_CHECK(send({{"do", "have"}, {"files", std::move(list)}}));
    FOURFOLD_TRY(const Json json, reply("have", kHashTimeout, stop));
    HaveAnswer answer;
    for (const Json& item : array_field(json, "found"))
        answer.found.push_back({text_field(item, "sha256"), text_field(item, "path")});
    for (const Json& item : array_field(json, "missing")) {
        if (item.is_string())
            answer.missing.push_back(item.get<std::string>());
    }
    if (answer.found.size() + answer.missing.size() != files.size())
        return Problem{ProblemCode::network, "the agent answered for another number of files", {}, host_};
    return answer;
}

Expected<PutResult> AgentClient::put(const std::filesystem::path& file, const std::string& sha256, uint64_t size,
    PieceSource& pieces, PutWay way, std::stop_token stop, const PutProgress& there)
{
    FOURFOLD_CHECK(
        send({{"do", "put"}, {"sha256", sha256}, {"size", size}, {"chain", way.chain}, {"beside", way.beside}}));
    FOURFOLD_TRY(const Json answer, reply("put", kHashTimeout, stop));
    const std::string state = text_field(answer, "state");
    if (state == "present")
        return PutResult{PutResult::present, size, {}};
    auto offset = static_cast<uint64_t>(std::max<int64_t>(0, integer_field(answer, "offset")));
    if (state == "busy")
        return PutResult{PutResult::busy, std::min(offset, size), text_field(answer, "sender")};
    if (state != "send" || offset > size)
        return Problem{ProblemCode::network, "the agent's answer to a file makes no sense", {}, host_};
    if (offset > 0)
        there(offset, false);
    while (offset < size) {
        if (stop.stop_requested())
            return Problem{ProblemCode::cancelled, "stopped while sending " + file.filename().string(), {}, host_};
        FOURFOLD_TRY(const auto piece, pieces.get(file, offset, size));
        FOURFOLD_CHECK(write(encode_frame(FrameKind::data, piece->compressed)));
        offset += piece->raw_bytes;
        there(piece->raw_bytes, true);
    }
    FOURFOLD_CHECK(send({{"do", "put-end"}}));
    FOURFOLD_TRY(const Json stored, reply("stored", kHashTimeout, stop));
    return PutResult{text_field(stored, "state") == "busy" ? PutResult::busy : PutResult::stored, 0, {}};
}

Expected<int> AgentClient::relay(const std::string& address, const std::string& token, const Json& next)
{
    FOURFOLD_CHECK(send({{"do", "relay"}, {"address", address}, {"token", token}, {"next", next}}));
    FOURFOLD_TRY(const Json json, reply("relaying", kReplyTimeout));
    return port_of(json, 1);
}

Expected<void> AgentClient::chain(const Json& next)
{
    Json request = next;
    request["do"] = "chain";
    FOURFOLD_CHECK(send(request));
    FOURFOLD_TRY(const Json json, reply("chained", kReplyTimeout));
    return {};
}

Expected<Prepared> AgentClient::prepare(const RunSpec& spec, const std::stop_token& stop)
{
    FOURFOLD_CHECK(send({{"do", "prepare"}, {"spec", to_json(spec)}}));
    FOURFOLD_TRY(const Json json, reply("prepared", kHashTimeout, stop));
    FOURFOLD_TRY(const int port, port_of(json, spec.node == 0 ? 1 : 0));
    return Prepared{text_field(json, "folder"), port};
}

Expected<void> AgentClient::start(const std::string& run, int node, const std::string& master_address, int master_port,
    const std::string& token, const Json& secrets)
{
    FOURFOLD_CHECK(send({{"do", "start"}, {"run", run}, {"node", node}, {"master_address", master_address},
        {"master_port", master_port}, {"token", token}, {"secrets", secrets}}));
    FOURFOLD_TRY(const Json json, reply("started", kReplyTimeout));
    return {};
}

Expected<std::string> AgentClient::submit(
    const std::vector<RunSpec>& specs, const std::string& token, const std::string& script)
{
    Json list = Json::array();
    for (const RunSpec& spec : specs)
        list.push_back(to_json(spec));
    FOURFOLD_CHECK(send({{"do", "submit"}, {"specs", std::move(list)}, {"token", token}, {"script", script}}));
    FOURFOLD_TRY(const Json json, reply("submitted", kHashTimeout));
    return text_field(json, "job");
}

Expected<AgentClient::FoundRuns> AgentClient::find(const std::string& run)
{
    FOURFOLD_CHECK(send({{"do", "find"}, {"run", run}}));
    FOURFOLD_TRY(const Json json, reply("found", kReplyTimeout));
    FoundRuns out;
    for (const Json& one : array_field(json, "runs")) {
        if (!is_run_id(text_field(one, "run")))
            return Problem{ProblemCode::network, "the agent names a run that cannot be one", {}, host_};
        out.runs.push_back(text_field(one, "run"));
        out.states.push_back(text_field(one, "state"));
    }
    for (const Json& one : array_field(json, "specs")) {
        FOURFOLD_TRY(RunSpec spec, run_spec_from_json(one));
        out.specs.push_back(std::move(spec));
    }
    return out;
}

Expected<AgentClient::Attempts> AgentClient::attempts(const std::string& run)
{
    FOURFOLD_CHECK(send({{"do", "attempts"}, {"run", run}}));
    FOURFOLD_TRY(const Json json, reply("attempts", kReplyTimeout));
    return Attempts{static_cast<int>(integer_field(json, "last")), text_field(json, "state"),
        text_field(json, "reason"), flag_field(json, "answered")};
}

Expected<void> AgentClient::tail(const std::string& run, int node, int64_t offset, int64_t seq, double silence_s)
{
    pinged_ = std::chrono::steady_clock::now();
    return send(
        {{"do", "tail"}, {"run", run}, {"node", node}, {"offset", offset}, {"seq", seq}, {"silence_s", silence_s}});
}

Expected<void> AgentClient::ping()
{
    const auto now = std::chrono::steady_clock::now();
    if (now - pinged_ <= kPing)
        return {};
    pinged_ = now;
    return send({{"do", "ping"}});
}

Expected<TailMessage> AgentClient::tail_next(std::chrono::milliseconds timeout)
{
    FOURFOLD_CHECK(ping());
    FOURFOLD_TRY(const auto frame, receive_within(timeout));
    TailMessage message;
    if (!frame)
        return message;
    FOURFOLD_TRY(const Json json, parse(*frame, ""));
    const std::string is = text_field(json, "is");
    message.state = text_field(json, "state");
    message.note = text_field(json, "note");
    if (is == "lines") {
        message.kind = TailMessage::Kind::lines;
        message.offset = integer_field(json, "offset");
        FOURFOLD_TRY(Frame data, receive(kReplyTimeout, true));
        if (data.kind != FrameKind::data || data.payload.empty() || data.payload.back() != '\n')
            return Problem{ProblemCode::network, "the agent sent part of a line", {}, host_};
        message.lines = std::move(data.payload);
    } else if (is == "heartbeat" || is == "stopping") {
        if (is == "stopping" && unanswered_stops_ > 0)
            --unanswered_stops_;
        message.kind = TailMessage::Kind::heartbeat;
        message.hint = text_field(json, "hint");
        message.status = text_field(json, "status");
        message.why = text_field(json, "why");
        message.rank = static_cast<int>(integer_field(json, "rank", -1));
    } else if (is == "skipped") {
        message.kind = TailMessage::Kind::skipped;
        message.offset = integer_field(json, "offset");
        message.bytes = integer_field(json, "bytes");
    } else if (is == "end") {
        message.kind = TailMessage::Kind::end;
        message.status = text_field(json, "status");
        message.why = text_field(json, "why");
        message.bytes = integer_field(json, "rest");
    } else {
        return Problem{ProblemCode::network, "the agent sent \"" + is + "\" in the middle of the events", {}, host_};
    }
    return message;
}

Expected<void> AgentClient::stop(
    const std::string& run, int node, RunState status, const std::string& why, const Json& error, double grace_s)
{
    ++unanswered_stops_;
    return send({{"do", "stop"}, {"run", run}, {"node", node}, {"status", name(status)}, {"why", why}, {"error", error},
        {"grace_s", grace_s}});
}

Expected<void> AgentClient::diagnose(const std::string& run, int node)
{
    return send({{"do", "diagnose"}, {"run", run}, {"node", node}});
}

Expected<Json> AgentClient::status(const std::string& run, int node)
{
    FOURFOLD_CHECK(send({{"do", "status"}, {"run", run}, {"node", node}}));
    return reply("status", kReplyTimeout);
}

Expected<void> AgentClient::kept(const std::string& run, int node)
{
    FOURFOLD_CHECK(send({{"do", "kept"}, {"run", run}, {"node", node}}));
    FOURFOLD_CHECK(reply("noted", kReplyTimeout));
    return {};
}

Expected<int> AgentClient::sweep(const std::string& run, int node)
{
    FOURFOLD_CHECK(send({{"do", "sweep"}, {"run", run}, {"node", node}}));
    FOURFOLD_TRY(const Json json, reply("swept", kReplyTimeout));
    return static_cast<int>(integer_field(json, "count"));
}

Expected<Json> AgentClient::probe(int ranks, bool on_gpus, bool speed, const Json& target)
{
    Json request = target;
    request.update(Json{{"do", "probe"}, {"ranks", ranks}, {"on_gpus", on_gpus}, {"speed", speed}});
    FOURFOLD_CHECK(send(request));
    return reply("probe", kReplyTimeout);
}

Expected<void> AgentClient::check_link()
{
    FOURFOLD_CHECK(send({{"do", "clock"}}));
    FOURFOLD_TRY(const Json json, reply("clock", kReplyTimeout));
    return {};
}

Expected<AgentClient::ClockSkew> AgentClient::clock_skew()
{
    const auto here
        = [] { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); };
    ClockSkew best{0, 1e9};
    for (int i = 0; i < 5; ++i) {
        const double begin = here();
        FOURFOLD_CHECK(send({{"do", "clock"}}));
        FOURFOLD_TRY(const Json json, reply("clock", kReplyTimeout));
        const double end = here();
        if ((end - begin) / 2 < best.uncertainty_s)
            best = {number_field(json, "time_s") - (begin + end) / 2, (end - begin) / 2};
    }
    return best;
}

Expected<Json> AgentClient::clear(double older_than_s, bool dry_run, bool end_processes)
{
    FOURFOLD_CHECK(send(
        {{"do", "clear"}, {"older_than_s", older_than_s}, {"dry_run", dry_run}, {"end_processes", end_processes}}));
    FOURFOLD_TRY(Json json, reply("cleared", kHashTimeout));
    json.erase("is");
    return json;
}

Expected<int> AgentClient::listen(const std::string& address, const std::string& token)
{
    FOURFOLD_CHECK(send({{"do", "listen"}, {"address", address}, {"token", token}}));
    FOURFOLD_TRY(const Json json, reply("listening", kReplyTimeout));
    return port_of(json, 1);
}

Expected<void> AgentClient::unlisten()
{
    FOURFOLD_CHECK(send({{"do", "unlisten"}}));
    FOURFOLD_TRY(const Json json, reply("silent", kReplyTimeout));
    return {};
}

Expected<Json> AgentClient::reach(
    const std::string& address, int port, const std::string& token, double timeout_s, bool speed, bool brief)
{
    FOURFOLD_CHECK(send({{"do", "reach"}, {"address", address}, {"port", port}, {"token", token},
        {"timeout_s", timeout_s}, {"speed", speed}, {"brief", brief}}));
    return reply("reached", kHashTimeout);
}

Expected<std::string> AgentClient::fetch(const std::string& run, int node, const std::string& name, uint64_t max_bytes)
{
    FOURFOLD_CHECK(send({{"do", "fetch"}, {"run", run}, {"node", node}, {"name", name}, {"max_bytes", max_bytes}}));
    FOURFOLD_TRY(const Json head, reply("file", kReplyTimeout));
    std::string content;
    for (;;) {
        FOURFOLD_TRY(Frame frame, receive(kReplyTimeout));
        if (frame.kind == FrameKind::json) {
            FOURFOLD_TRY(const Json end, parse(frame, "file-end"));
            return content;
        }
        content += frame.payload;
        if (content.size() > max_bytes)
            return Problem{ProblemCode::network, "the agent sent more of " + name + " than was asked for", {}, host_};
    }
}

} // namespace fourfold
