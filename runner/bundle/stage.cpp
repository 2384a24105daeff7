// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/bundle/stage.h"

#include "core/base/units.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

namespace fourfold {

using namespace std::chrono_literals;

namespace {

constexpr double kSpareGib = 0.1; // for the run's own files
constexpr auto kLookAgain = 200ms;
constexpr auto kStandstill = 20s; // of a file that another session holds; a silent one lets go of it after 5 s

std::map<std::string, const BundleFile*> by_hash(const Bundle& bundle)
{
    std::map<std::string, const BundleFile*> out;
    for (const BundleFile& file : bundle.files) {
        if (!file.sha256.empty())
            out.emplace(file.sha256, &file); // the same content under a second name is sent once
    }
    return out;
}

// Another session of the node that is sending a file: of another node with the same file system, of another client, or
// an earlier one of this client whose end the node has not noticed.
class OtherSender {
public:
    OtherSender(const BundleFile& file, const StageReports& reports)
        : file_(file)
        , reports_(reports)
    {
    }
    // True when it has sent more.
    bool look(const PutResult& busy)
    {
        const auto now = std::chrono::steady_clock::now();
        if (!there_)
            reports_.note("waits for " + file_.name + ", which "
                + (busy.sender.empty() ? "another session" : busy.sender) + " is sending (" + percent(busy.there)
                + " so far); goes on with it itself when nothing has come from there for 5 s");
        const bool moves = !there_ || *there_ != busy.there;
        if (moves)
            moved_ = now;
        there_ = busy.there;
        if (now - moved_ > kStandstill && !stands_still_) {
            stands_still_ = true;
            reports_.note(file_.name + " stands still at " + percent(busy.there)
                + " and is not let go of: it is sent beside what the other session has");
        }
        return moves;
    }
    // It holds the file without sending or letting go of it.
    [[nodiscard]] bool stands_still() const { return stands_still_; }
    // The file is ours now; `bytes` of it are there.
    void left_at(uint64_t bytes)
    {
        if (there_)
            reports_.note("goes on with " + file_.name + " at " + percent(bytes));
    }

private:
    [[nodiscard]] std::string percent(uint64_t bytes) const
    {
        return std::to_string(file_.size == 0 ? 100 : 100 * bytes / file_.size) + " %";
    }

    const BundleFile& file_;
    const StageReports& reports_;
    std::optional<uint64_t> there_; // none: it was never waited for
    std::chrono::steady_clock::time_point moved_;
    bool stands_still_ = false;
};

} // namespace

Expected<Stock> take_stock(AgentClient& agent, const Bundle& bundle, bool reuse, const std::stop_token& stop)
{
    std::vector<WantedFile> wanted;
    const auto files = by_hash(bundle);
    for (const auto& [sha256, file] : files) {
        wanted.push_back({sha256, file->size, {}, {}});
        if (!reuse)
            continue;
        wanted.back().candidates.push_back(file->file.string());
        if (file->name.starts_with("bin/"))
            wanted.back().library = file->name.substr(4);
    }
    Stock stock;
    if (wanted.empty())
        return stock;
    FOURFOLD_TRY(HaveAnswer have, agent.have(wanted, stop));
    for (const FoundFile& found : have.found)
        stock.places[found.sha256] = found.path;
    for (const std::string& sha256 : have.missing) {
        const auto file = files.find(sha256);
        if (file == files.end())
            return Problem{ProblemCode::network, "the agent asks for a file that was not offered", {}, agent.host()};
        stock.missing_bytes += file->second->size;
    }
    stock.missing = std::move(have.missing);
    return stock;
}

Expected<void> check_room(const Stock& stock, double disk_free_gib, const std::string& host)
{
    const double need = double(stock.missing_bytes) / kGib + kSpareGib;
    if (stock.missing_bytes == 0 || need <= disk_free_gib)
        return {};
    char text[160];
    std::snprintf(text, sizeof text, "the run needs %.2f GiB on the node, %.2f GiB are free", need, disk_free_gib);
    return Problem{ProblemCode::io, text, "make room or set the target's base_folder to another disk", host};
}

Expected<void> send_files(AgentClient& agent, const Bundle& bundle, const std::vector<std::string>& hashes,
    const SendOrder& order, const std::stop_token& stop, const StageReports& reports, uint64_t& sent)
{
    const auto files = by_hash(bundle);
    uint64_t total = 0, done = 0;
    for (const std::string& sha256 : hashes)
        total += files.at(sha256)->size;
    for (const std::string& sha256 : hashes) {
        const BundleFile& file = *files.at(sha256);
        const uint64_t before = done;
        OtherSender other(file, reports);
        for (;;) {
            done = before;
            FOURFOLD_TRY(const PutResult result,
                agent.put(file.file, sha256, file.size, order.pieces, {order.chain, other.stands_still()}, stop,
                    [&](uint64_t bytes, bool now) {
                        done += bytes;
                        if (now) {
                            sent += bytes;
                            reports.advanced();
                        } else {
                            other.left_at(bytes);
                        }
                        reports.progress(done, total, file.name);
                    }));
            if (result.state != PutResult::busy || order.chain)
                break;
            if (stop.stop_requested())
                return Problem{ProblemCode::cancelled, "stopped while files were sent", {}, agent.host()};
            if (other.stands_still())
                return Problem{ProblemCode::network,
                    "the agent neither takes " + file.name + " nor says that it has it", {}, agent.host()};
            if (other.look(result))
                reports.progress(before + result.there, total, file.name);
            std::this_thread::sleep_for(kLookAgain);
        }
        done = before + file.size;
        reports.progress(done, total, file.name);
    }
    return {};
}

Expected<void> stage(AgentClient& agent, const Bundle& bundle, const Stock& stock, PieceSource& pieces,
    const std::stop_token& stop, const StageReports& reports, Staged& staged)
{
    FOURFOLD_CHECK(send_files(agent, bundle, stock.missing, {pieces, false}, stop, reports, staged.sent_bytes));
    for (const BundleFile& file : bundle.files) {
        if (file.sha256.empty()) {
            staged.files.push_back({file.name, {}, file.size, file.file.string()});
            continue;
        }
        const auto place = stock.places.find(file.sha256);
        staged.files.push_back(
            {file.name, file.sha256, file.size, place == stock.places.end() ? std::string() : place->second});
        if (!staged.files.back().in_place.empty())
            staged.reused_bytes += file.size;
    }
    return {};
}

} // namespace fourfold
