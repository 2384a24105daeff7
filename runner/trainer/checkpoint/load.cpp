// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/checkpoint.h"
#include "runner/trainer/checkpoint/contents.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/comm/texts.h"

#include <algorithm>
#include <sstream>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;

// A link such as `latest` means the step that it leads to, beside which are the others.
fs::path behind_link(const fs::path& named)
{
    std::error_code error;
    const fs::path plain = named.has_filename() ? named : named.parent_path();
    const fs::path real = !step_of(plain) && fs::is_symlink(plain, error) ? fs::canonical(plain, error) : plain;
    return error ? named : real;
}

// The folder that is meant, and those of earlier steps, newest first.
std::vector<fs::path> candidates(const fs::path& folder)
{
    const auto own_step = step_of(folder);
    const fs::path all = own_step ? (folder.has_filename() ? folder : folder.parent_path()).parent_path() : folder;
    std::vector<fs::path> found;
    for (const auto& [step, path] : step_folders(all))
        if (!own_step || step < *own_step)
            found.insert(found.begin(), path);
    if (own_step || found.empty())
        found.insert(found.begin(), folder);
    return found;
}

// A node may have other folders than the first rank's, or see a new one later: its list counts for all.
std::vector<fs::path> candidates_of_all(const fs::path& folder, const Mesh& mesh, at::Device device)
{
    const Communicator& world = mesh[GroupKind::world];
    std::string own; // each with a NUL behind it, which no path holds
    if (world.rank() == 0)
        for (const fs::path& candidate : candidates(behind_link(folder)))
            own += candidate.string() + '\0';
    std::istringstream all(all_texts(world, own, device).front());
    std::vector<fs::path> folders;
    for (std::string candidate; std::getline(all, candidate, '\0');)
        folders.emplace_back(candidate);
    return folders;
}

// The first that all ranks can read, together, and why not the ones before it: the same on all ranks.
class Chosen {
public:
    Chosen(const std::vector<fs::path>& folders, const Mesh& mesh, at::Device device)
    {
        const Communicator& world = mesh[GroupKind::world];
        for (const fs::path& folder : folders) {
            auto opened = CheckpointContents::open(folder, world.rank(), world.size());
            const Problem own = opened ? Problem{} : opened.error();
            const Json told = opened ? Json{{"is", opened->identity}}
                                     : Json{{"problem", {int(own.code), own.message, own.hint, own.where}}};
            const auto problem = first_problem(
                all_texts(world, told.dump(-1, ' ', false, Json::error_handler_t::replace), device), folder);
            if (!problem) {
                contents_ = *std::move(opened);
                folder_ = folder;
                return;
            }
            if (!problem_)
                problem_ = problem;
        }
    }

    [[nodiscard]] const std::optional<CheckpointContents>& contents() const { return contents_; }
    [[nodiscard]] const fs::path& folder() const { return folder_; }
    [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; } // of the newest, where it has one

private:
    // Of what the ranks tell: one that cannot read it, or has something else there.
    static std::optional<Problem> first_problem(const std::vector<std::string>& texts, const fs::path& folder)
    {
        std::vector<Json> told;
        for (const std::string& text : texts)
            told.push_back(Json::parse(text));
        for (const Json& of : told)
            if (const auto at = of.find("problem"); at != of.end()) {
                const Json& p = *at;
                return Problem{static_cast<ProblemCode>(p[0].get<int>()), p[1].get<std::string>(),
                    p[2].get<std::string>(), p[3].get<std::string>()};
            }
        const auto other = std::ranges::find_if(told, [&](const Json& of) { return of != told.front(); });
        if (other == told.end())
            return std::nullopt;
        return Problem{ProblemCode::bad_input,
            "rank " + std::to_string(other - told.begin()) + " has another checkpoint there than rank 0",
            "put it where all nodes see it, or the same one on each of them", "run.checkpoint.load " + folder.string()};
    }

    std::optional<CheckpointContents> contents_;
    fs::path folder_;
    std::optional<Problem> problem_;
};

} // namespace

Expected<void> read_tensors(const TensorSource& tensors, const ModelShape& model, const Weights& weights,
    const std::vector<at::Tensor>& buffers, const std::string& suffix, const std::function<bool(const Shard&)>& of)
{
    for (std::size_t b = 0; b < buffers.size(); ++b)
        for (const BucketEntry& entry : weights.buckets()[b].entries) {
            const auto [begin, end] = weights.own_range(b, entry);
            if (begin == end || (of && !of(weights.shards()[entry.shard])))
                continue;
            FOURFOLD_TRY(const auto values, tensors.read(model, weights.shards()[entry.shard], suffix, begin, end));
            weights.write(b, buffers[b], entry, begin, values);
        }
    return {};
}

namespace {
// Shapes do not tell all: fewer layers, a tied head or no biases would take a part of the checkpoint, and leave the
// rest without a word. What only changes how the same weights are used is told.
Expected<void> compare_models(const fs::path& folder, const ModelShape& model, std::vector<std::string>& notes)
{
    const fs::path file = folder / "config.json";
    const auto config = read_json_file(file);
    auto written = config ? model_from_config(*config, file.string()) : Expected<ModelShape>(config.error());
    if (!written) // bare weights, or of a family that is not known
        return {};
    const auto has_part = [&](const char* what, auto ModelShape::*member) -> Expected<void> {
        if ((*written).*member == model.*member)
            return {};
        return Problem{ProblemCode::bad_input,
            std::string(what) + " " + Json((*written).*member).dump() + ", the plan's model has "
                + Json(model.*member).dump(),
            "give a checkpoint of the plan's model", file.string()};
    };
    FOURFOLD_CHECK(has_part("num_hidden_layers is", &ModelShape::layers));
    FOURFOLD_CHECK(has_part("num_attention_heads is", &ModelShape::heads)); // of the same rows and columns
    FOURFOLD_CHECK(has_part("tie_word_embeddings is", &ModelShape::tied_embeddings));
    FOURFOLD_CHECK(has_part("biases of queries, keys and values:", &ModelShape::qkv_bias));
    FOURFOLD_CHECK(has_part("biases of linear layers:", &ModelShape::linear_bias));
    FOURFOLD_CHECK(has_part("norms of queries and keys:", &ModelShape::query_key_norm));
    written->name = model.name;
    written->vocab = model.vocab; // its shape was checked
    written->max_positions = model.max_positions; // of no weight
    const Json there = config_from_model(*written), here = config_from_model(model);
    const auto tell = [&](const std::string& key, const std::string& is, const std::string& plan) {
        notes.push_back(file.string() + ": " + key + " is " + is + ", the plan's model " + plan);
    };
    for (const auto& [key, value] : here.items()) {
        if (const auto at = there.find(key); at == there.end() || *at != value)
            tell(key, at == there.end() ? "missing" : at->dump(), "has " + value.dump());
    }
    for (const auto& [key, value] : there.items()) { // many a key is written only where it says something
        if (!here.contains(key))
            tell(key, value.dump(), "leaves it out");
    }
    return {};
}
} // namespace

Expected<LoadedCheckpoint> load_checkpoint(
    const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights, Adam& optimizer, LossScaler& loss_scaler)
{
    const fs::path folder = plan.run.checkpoint.load;
    const auto folders = candidates_of_all(folder, mesh, weights.device());
    const Chosen chosen(folders, mesh, weights.device());
    LoadedCheckpoint loaded;
    if (chosen.problem()) {
        Problem problem = *chosen.problem();
        if (!chosen.contents()) {
            if (folders.size() > 1)
                problem.hint = "no older checkpoint beside it can be read either";
            return problem;
        }
        const std::string older = chosen.folder().filename().string();
        if (!plan.run.checkpoint.from_last_good) {
            problem.hint = "the newest one that is whole is " + older
                + ": go on from it with --from-last-good (run.checkpoint.from_last_good)";
            return problem;
        }
        problem.hint.clear();
        loaded.notes.push_back(problem.line() + "; the run goes on from " + older + ", the newest one that is whole");
    }
    const CheckpointContents& contents = *chosen.contents();
    loaded.folder = chosen.folder();
    if (!contents.checked)
        loaded.notes.push_back(
            chosen.folder().string() + " was written without checksums: whether it is damaged was not checked");
    FOURFOLD_CHECK(read_tensors(contents.model, plan.model, weights, weights.masters(), ""));
    FOURFOLD_CHECK(compare_models(chosen.folder(), plan.model, loaded.notes));
    if (!contents.states)
        return loaded;
    for (const auto& [suffix, buffers, muon] : optimizer.states())
        FOURFOLD_CHECK(read_tensors(*contents.states, plan.model, weights, *buffers, suffix,
            [own = muon](const Shard& shard) { return shard.muon == own; }));
    optimizer.set_updates(contents.updates);
    if (contents.loss_scale > 0)
        loss_scaler.restore({contents.loss_scale, contents.loss_scale_steps});
    loaded.steps = contents.steps;
    return loaded;
}

} // namespace fourfold::trainer
