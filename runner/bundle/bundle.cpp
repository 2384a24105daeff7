// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/bundle/bundle.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/dataset/token_type.h"
#include "core/plan/named_file.h"
#include "runner/bundle/data_files.h"
#include "runner/bundle/trainer_libraries.h"
#include "runner/protocol/hash_cache.h"
#include "runner/protocol/message.h"

#include <algorithm>
#include <set>

namespace fourfold {

namespace {
// The plan with absolute data paths, and each distinct file once as data/<k>/<name>.
Expected<void> add_data(Bundle& bundle)
{
    std::map<std::string, std::string> names;
    return for_each_file(bundle.plan, [&](const std::string& field, std::string& path) -> Expected<void> {
        const auto found = named_file(bundle.plan, path, field);
        if (!found)
            return Problem{
                found.error().code, field + ": " + found.error().message, found.error().hint, bundle.plan.where};
        const auto& file = *found;
        path = file.string();
        if (!names.contains(path)) {
            const std::string name = "data/" + std::to_string(names.size()) + "/" + file.filename().string();
            if (!is_plain_relative_path(name))
                return Problem{ProblemCode::bad_input,
                    field + ": the name of " + in_quotes(file.filename().string())
                        + " has control characters or is too long to be sent to a node",
                    "rename the file", bundle.plan.where};
            names[path] = name;
            bundle.files.push_back({name, file, {}, 0});
        }
        return {};
    });
}

// `file` into the folder in which the nodes find `neighbour`, a file of the bundle.
void send_beside(Bundle& bundle, const std::filesystem::path& neighbour, const std::filesystem::path& file)
{
    const auto is = [&](const std::filesystem::path& path) {
        return std::ranges::find(bundle.files, path, [](const BundleFile& sent) { return sent.file; });
    };
    if (is(file) == bundle.files.end()) {
        const auto folder = std::filesystem::path(is(neighbour)->name).parent_path();
        bundle.files.push_back({(folder / file.filename()).string(), file, {}, 0});
    }
}

// Nodes get the index beside the tokens only where documents are told apart by it: what else it says of them goes into
// the plan.
Expected<void> name_token_types(Bundle& bundle)
{
    ResolvedPlan& plan = bundle.plan;
    const bool sends_index = plan.run.documents.mask && !plan.run.documents.end;
    for (const auto& [sources, field] :
        {std::pair(&plan.run.data, "run.data"), std::pair(&plan.run.eval.data, "run.eval.data")})
        for (std::size_t i = 0; i < sources->size(); ++i) {
            DataSource& source = (*sources)[i];
            std::error_code error;
            const auto index = TokenIndex::beside(source.path);
            if (!std::filesystem::exists(index, error))
                continue;
            if (sends_index)
                send_beside(bundle, source.path, index);
            FOURFOLD_TRY(
                const TokenBytes bytes, token_bytes_of(source, std::string(field) + "[" + std::to_string(i) + "]"));
            source.dtype = dtype_of(bytes);
        }
    return {};
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

void add_libraries(Bundle& bundle, const std::vector<SharedLibrary>& libraries)
{
    bundle.library_path = !libraries.empty();
    std::set<std::string> names;
    for (const SharedLibrary& library : libraries) {
        if (names.insert(library.name).second)
            bundle.files.push_back({"bin/" + library.name, library.file, {}, 0});
    }
}

Expected<Bundle> with_program(const ResolvedPlan& plan, const std::filesystem::path& trainer)
{
    Bundle bundle;
    bundle.plan = plan;
    bundle.program = "bin/" + trainer.filename().string();
    std::error_code ignored;
    bundle.files.push_back({bundle.program, std::filesystem::absolute(trainer, ignored), {}, 0});
    FOURFOLD_CHECK(add_data(bundle));
    FOURFOLD_CHECK(name_token_types(bundle));
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
    const auto found = trainer_libraries(bundle.files.front().file);
    // A script in front of a trainer is no ELF program: it finds the libraries, and what cannot be started says so
    // then.
    if (!found && found.error().code != ProblemCode::bad_input)
        return found.error();
    if (found && !found->by_itself)
        add_libraries(bundle, found->libraries);
    FOURFOLD_CHECK(add_sizes(bundle));
    return bundle;
}

Expected<Bundle> portable_bundle(const ResolvedPlan& plan, const std::filesystem::path& trainer)
{
    FOURFOLD_TRY(Bundle bundle, with_program(plan, trainer));
    FOURFOLD_TRY(const TrainerLibraries found, trainer_libraries(bundle.files.front().file));
    add_libraries(bundle, found.libraries);
    FOURFOLD_CHECK(add_sizes(bundle));
    FOURFOLD_TRY(bundle.glibc_minor, needed_glibc_minor(bundle.files.front().file));
    HashCache hashes(cache_folder() / "hashes.json");
    for (BundleFile& file : bundle.files) {
        std::error_code ignored;
        FOURFOLD_TRY(file.sha256, hashes.sha256(std::filesystem::canonical(file.file, ignored)));
    }
    return bundle;
}

} // namespace fourfold
