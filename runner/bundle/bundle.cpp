// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/bundle/bundle.h"

#include "core/base/paths.h"
#include "runner/bundle/data_files.h"
#include "runner/bundle/shared_libraries.h"
#include "runner/protocol/hash_cache.h"

#include <algorithm>
#include <set>
#include <thread>

namespace fourfold {

using namespace std::chrono_literals;

namespace {
constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr double kSpareGib = 0.1; // for the run's own files

// The plan with absolute data paths, and each distinct file once as data/<k>/<name>.
Expected<void> add_data(Bundle& bundle)
{
    std::map<std::string, std::string> names;
    return for_each_file(bundle.plan, [&](const std::string& field, std::string& path) -> Expected<void> {
        FOURFOLD_TRY(const auto file, data_file(bundle.plan, path, field));
        path = file.string();
        if (!names.contains(path)) {
            const std::string name = "data/" + std::to_string(names.size()) + "/" + file.filename().string();
            names[path] = name;
            bundle.files.push_back({name, file, {}, 0});
        }
        return {};
    });
}

Expected<void> add_sizes(Bundle& bundle)
{
    for (BundleFile& file : bundle.files) {
        std::error_code error;
        file.size = std::filesystem::file_size(file.file, error);
        if (error)
            return Problem{ProblemCode::not_found, "cannot be read: " + error.message(),
                file.name == bundle.program ? "build the trainer (FOURFOLD_TRAINER=ON), or name another" : "",
                file.file.string()};
    }
    return {};
}

Expected<Bundle> with_program(const ResolvedPlan& plan, const std::filesystem::path& trainer)
{
    Bundle bundle;
    bundle.plan = plan;
    bundle.program = "bin/" + trainer.filename().string();
    std::error_code ignored;
    bundle.files.push_back({bundle.program, std::filesystem::absolute(trainer, ignored), {}, 0});
    FOURFOLD_CHECK(add_data(bundle));
    return bundle;
}
} // namespace

uint64_t Bundle::bytes() const
{
    uint64_t total = 0;
    for (const BundleFile& file : files)
        total += file.size;
    return total;
}

Json Bundle::plan_on_node(const std::string& run_folder) const
{
    ResolvedPlan moved = plan;
    std::map<std::string, std::string> names;
    for (const BundleFile& file : files)
        names[file.file.string()] = file.name;
    const auto done = for_each_file(moved, [&](const std::string&, std::string& path) -> Expected<void> {
        if (const auto at = names.find(path); at != names.end())
            path = run_folder + "/" + at->second;
        return {};
    });
    assert(done);
    return to_json(moved, PresetStyle::inlined);
}

Expected<Bundle> local_bundle(const ResolvedPlan& plan, const std::filesystem::path& trainer)
{
    FOURFOLD_TRY(Bundle bundle, with_program(plan, trainer));
    FOURFOLD_CHECK(add_sizes(bundle));
    return bundle;
}

Expected<Bundle> portable_bundle(const ResolvedPlan& plan, const std::filesystem::path& trainer)
{
    FOURFOLD_TRY(Bundle bundle, with_program(plan, trainer));
    FOURFOLD_TRY(const auto libraries, shared_libraries(bundle.files.front().file));
    bundle.library_path = !libraries.empty();
    std::set<std::string> names;
    for (const SharedLibrary& library : libraries) {
        if (names.insert(library.name).second)
            bundle.files.push_back({"bin/" + library.name, library.file, {}, 0});
    }
    FOURFOLD_CHECK(add_sizes(bundle));
    FOURFOLD_TRY(bundle.glibc_minor, needed_glibc_minor(bundle.files.front().file));
    HashCache hashes(cache_folder() / "hashes.json");
    for (BundleFile& file : bundle.files) {
        std::error_code ignored;
        FOURFOLD_TRY(file.sha256, hashes.sha256(std::filesystem::canonical(file.file, ignored)));
    }
    return bundle;
}

Expected<Staged> stage(AgentClient& agent, const Bundle& bundle, bool reuse, double disk_free_gib, std::stop_token stop,
    const std::function<void(uint64_t, uint64_t, const std::string&)>& progress)
{
    Staged staged;
    std::vector<WantedFile> wanted;
    std::map<std::string, const BundleFile*> by_hash;
    for (const BundleFile& file : bundle.files) {
        if (file.sha256.empty()) {
            staged.files.push_back({file.name, {}, file.size, file.file.string()});
            continue;
        }
        if (!by_hash.emplace(file.sha256, &file).second)
            continue; // the same content under a second name
        wanted.push_back({file.sha256, file.size, {}});
        if (reuse)
            wanted.back().candidates.push_back(file.file.string());
    }
    if (wanted.empty())
        return staged;
    FOURFOLD_TRY(HaveAnswer have, agent.have(wanted));
    std::map<std::string, std::string> places;
    for (const FoundFile& found : have.found)
        places[found.sha256] = found.path;
    uint64_t total = 0, done = 0;
    for (const std::string& sha256 : have.missing) {
        if (!by_hash.contains(sha256))
            return Problem{ProblemCode::network, "the agent asks for a file that was not offered", {}, agent.host()};
        total += by_hash[sha256]->size;
    }
    if (double(total) / kGib + kSpareGib > disk_free_gib) {
        char text[160];
        std::snprintf(text, sizeof text, "the run needs %.2f GiB on the node, %.2f GiB are free",
            double(total) / kGib + kSpareGib, disk_free_gib);
        return Problem{
            ProblemCode::io, text, "make room or set the target's base_folder to another disk", agent.host()};
    }
    for (const std::string& sha256 : have.missing) {
        const BundleFile& file = *by_hash[sha256];
        const uint64_t before = done;
        for (;;) {
            done = before;
            FOURFOLD_TRY(const PutResult result, agent.put(file.file, sha256, file.size, stop, [&](uint64_t bytes) {
                done += bytes;
                progress(done, total, file.name);
            }));
            if (result == PutResult::stored)
                staged.sent_bytes += file.size;
            if (result != PutResult::busy)
                break;
            // Another node with the same file system (or another client) is sending it.
            if (stop.stop_requested())
                return Problem{ProblemCode::cancelled, "stopped while files were sent", {}, agent.host()};
            std::this_thread::sleep_for(100ms);
        }
        done = before + file.size;
        progress(done, total, file.name);
        places[sha256] = {};
    }
    for (const BundleFile& file : bundle.files) {
        if (!file.sha256.empty())
            staged.files.push_back({file.name, file.sha256, file.size, places[file.sha256]});
    }
    return staged;
}

} // namespace fourfold
