// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/bundle/stage.h"

#include <chrono>
#include <cstdio>
#include <thread>

namespace fourfold {

using namespace std::chrono_literals;

namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr double kSpareGib = 0.1; // for the run's own files

std::map<std::string, const BundleFile*> by_hash(const Bundle& bundle)
{
    std::map<std::string, const BundleFile*> out;
    for (const BundleFile& file : bundle.files) {
        if (!file.sha256.empty())
            out.emplace(file.sha256, &file); // the same content under a second name is sent once
    }
    return out;
}

} // namespace

Expected<Stock> take_stock(AgentClient& agent, const Bundle& bundle, bool reuse)
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
    FOURFOLD_TRY(HaveAnswer have, agent.have(wanted));
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

Expected<uint64_t> send_files(AgentClient& agent, const Bundle& bundle, const std::vector<std::string>& hashes,
    const SendOrder& order, const std::stop_token& stop, const StageProgress& progress)
{
    const auto files = by_hash(bundle);
    uint64_t total = 0, done = 0, sent = 0;
    for (const std::string& sha256 : hashes)
        total += files.at(sha256)->size;
    for (const std::string& sha256 : hashes) {
        const BundleFile& file = *files.at(sha256);
        const uint64_t before = done;
        for (;;) {
            done = before;
            FOURFOLD_TRY(const PutResult result,
                agent.put(file.file, sha256, file.size, order.pieces, order.chain, stop, [&](uint64_t bytes, bool now) {
                    done += bytes;
                    sent += now ? bytes : 0;
                    progress(done, total, file.name);
                }));
            if (result != PutResult::busy || order.chain)
                break;
            // Another node with the same file system (or another client) is sending it.
            if (stop.stop_requested())
                return Problem{ProblemCode::cancelled, "stopped while files were sent", {}, agent.host()};
            std::this_thread::sleep_for(100ms);
        }
        done = before + file.size;
        progress(done, total, file.name);
    }
    return sent;
}

Expected<Staged> stage(AgentClient& agent, const Bundle& bundle, const Stock& stock, PieceSource& pieces,
    const std::stop_token& stop, const StageProgress& progress)
{
    Staged staged;
    FOURFOLD_TRY(staged.sent_bytes, send_files(agent, bundle, stock.missing, {pieces, false}, stop, progress));
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
    return staged;
}

} // namespace fourfold
