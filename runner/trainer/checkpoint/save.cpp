// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/checkpoint.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/checkpoint/safetensors.h"
#include "runner/trainer/checkpoint/stored_layout.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;

// One pipeline rank's tensors: this rank takes part in gathering them, and writes them if `writer`.
class StageFiles {
public:
    StageFiles(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights)
        : plan_(plan)
        , mesh_(mesh)
        , weights_(weights)
        , gathers_(mesh.replicas.rank() == 0)
        , writes_(gathers_ && mesh.tp.rank() == 0)
    {
    }

    // `parts`: buffers beside weights.masters() with the suffix of their tensors' names. A rank that cannot write goes
    // on gathering, as the others wait for it; status() says what went wrong.
    using Parts = std::vector<std::pair<std::string, const std::vector<at::Tensor>*>>;
    void write(const fs::path& file, const Parts& parts)
    {
        const std::string dtype = weights_.masters()[0].scalar_type() == at::kDouble ? "F64" : "F32";
        std::vector<StoredTensor> tensors;
        for (const auto& [suffix, buffers] : parts)
            for (const Bucket& bucket : weights_.buckets())
                for (const BucketEntry& entry : bucket.entries) {
                    const Shard& shard = weights_.shards()[entry.shard];
                    if (stored_here(shard, mesh_.at.pp))
                        tensors.push_back(
                            {shard.parameter.name + suffix, dtype, StoredLayout(plan_.model, shard).shape()});
                }
        std::unique_ptr<SafetensorsWriter> writer;
        if (writes_ && status_) {
            auto created = SafetensorsWriter::create(file, tensors, {{"format", "pt"}});
            if (created)
                writer = *std::move(created);
            else
                status_ = created.error();
        }
        for (const auto& [suffix, buffers] : parts)
            for (std::size_t b = 0; b < weights_.buckets().size(); ++b) {
                const at::Tensor whole = weights_.whole((*buffers)[b], mesh_.shard);
                for (const BucketEntry& entry : weights_.buckets()[b].entries) {
                    const Shard& shard = weights_.shards()[entry.shard];
                    if (!gathers_ || !stored_here(shard, mesh_.at.pp))
                        continue;
                    const at::Tensor full = over_tp(Weights::view(whole, entry, shard), shard);
                    if (writer && status_)
                        status_ = append(*writer, full, StoredLayout(plan_.model, shard));
                }
            }
        if (writer && status_)
            status_ = writer->finish();
        bytes_ += writer ? writer->bytes() : 0;
    }

    [[nodiscard]] const Expected<void>& status() const { return status_; }
    [[nodiscard]] int64_t bytes() const { return bytes_; } // that this rank wrote

private:
    // The whole tensor of the table, from the parts of the TP ranks.
    [[nodiscard]] at::Tensor over_tp(const at::Tensor& own, const Shard& shard) const
    {
        const int tp = mesh_.tp.size();
        if (shard.parameter.tp_dim < 0 || tp == 1)
            return own.contiguous();
        const at::Tensor all = mesh_.tp.all_gather(own.contiguous().unsqueeze(0));
        // Ranks that share key/value heads have the same part: one of them counts.
        const int copies = shard.replication == Replication::kv ? mesh_.kv.size() : 1;
        std::vector<at::Tensor> parts;
        for (int rank = 0; rank < tp; rank += copies)
            parts.push_back(all[rank]);
        return at::cat(parts, shard.parameter.tp_dim);
    }

    static Expected<void> append(SafetensorsWriter& writer, const at::Tensor& full, const StoredLayout& layout)
    {
        const at::Tensor table = full.cpu().reshape({full.size(0), -1});
        at::Tensor stored = table.new_empty({layout.rows() * layout.columns()});
        for (int64_t row = 0; row < layout.rows(); ++row)
            stored.as_strided({layout.columns()}, {layout.stride()}, layout.index(row, 0)).copy_(table[row]);
        return writer.append(stored.data_ptr(), stored.nbytes());
    }

    const ResolvedPlan& plan_;
    const Mesh& mesh_;
    const Weights& weights_;
    bool gathers_, writes_;
    Expected<void> status_;
    int64_t bytes_ = 0;
};

// What ties the files of all pipeline ranks together.
Expected<void> write_index(const fs::path& folder, int steps, int updates, const ResolvedPlan& plan, int64_t bytes)
{
    Json weight_map = Json::object();
    const int pp = plan.layout.pp;
    for (int stage = 0; stage < pp; ++stage) {
        const std::string file = stage_file("model", stage, pp);
        if (!fs::exists(folder / file))
            return Problem{ProblemCode::io, "the file of pipeline rank " + std::to_string(stage) + " is not here",
                "set run.checkpoint.path to a folder that all nodes share", (folder / file).string()};
        for (const Shard& shard : shard_table(plan, stage, 0))
            if (stored_here(shard, stage))
                weight_map[shard.parameter.name] = file;
    }
    const Json index{{"metadata", {{"total_size", bytes}}}, {"weight_map", weight_map}};
    const Json trainer{{"fourfold_checkpoint", 1}, {"step", steps}, {"updates", updates}, {"seed", plan.run.seed},
        {"plan_hash", plan_hash(plan)}};
    FOURFOLD_CHECK(write_file_atomically(folder / "model.safetensors.index.json", index.dump(1)));
    FOURFOLD_CHECK(write_file_atomically(folder / "config.json", config_from_model(plan.model).dump(1)));
    return write_file_atomically(folder / "trainer.json", trainer.dump(1));
}

void remove_oldest(const fs::path& folder, int keep)
{
    auto steps = step_folders(folder);
    std::error_code ignored;
    while (int(steps.size()) > std::max(1, keep)) {
        fs::remove_all(steps.begin()->second, ignored);
        steps.erase(steps.begin());
    }
}

// True where every rank says so.
bool all_agree(const Mesh& mesh, bool own, const at::TensorOptions& options, double& sum)
{
    const at::Tensor figures = at::tensor({own ? 0.0 : 1.0, sum}, at::TensorOptions(at::kDouble)).to(options.device());
    mesh.world.all_reduce(figures);
    const at::Tensor known = figures.cpu();
    sum = known[1].item<double>();
    return known[0].item<double>() == 0;
}
} // namespace

Expected<SavedCheckpoint> save_checkpoint(const fs::path& folder, int steps, const ResolvedPlan& plan, const Mesh& mesh,
    const Weights& weights, const AdamW& optimizer)
{
    const fs::path target = folder / step_name(steps);
    const fs::path partial = folder / (step_name(steps) + ".partial");
    const auto options = weights.masters()[0].options();
    const auto together = [&](const Expected<void>& own, double& sum) -> Expected<void> {
        if (all_agree(mesh, own.has_value(), options, sum))
            return {};
        if (!own)
            return own.error();
        return Problem{
            ProblemCode::cancelled, "another rank could not write the checkpoint", "see its error", target.string()};
    };

    std::error_code error;
    fs::create_directories(partial, error); // where it fails, creating a file in it says why
    StageFiles files(plan, mesh, weights);
    const int pp = plan.layout.pp;
    files.write(partial / stage_file("model", mesh.at.pp, pp), {{"", &weights.masters()}});
    files.write(partial / stage_file("optimizer", mesh.at.pp, pp),
        {{kFirstMoment, &optimizer.first_moment()}, {kSecondMoment, &optimizer.second_moment()}});
    double bytes = double(files.bytes());
    FOURFOLD_CHECK(together(files.status(), bytes));

    Expected<void> finished;
    if (mesh.world.rank() == 0) {
        finished = write_index(partial, steps, optimizer.updates(), plan, static_cast<int64_t>(bytes));
        if (finished) {
            fs::remove_all(target, error);
            fs::rename(partial, target, error);
            if (error)
                finished = Problem{ProblemCode::io, "cannot rename it: " + error.message(), "", partial.string()};
            else
                remove_oldest(folder, plan.run.checkpoint.keep);
        }
    }
    double nothing = 0;
    FOURFOLD_CHECK(together(finished, nothing));
    return SavedCheckpoint{target, static_cast<int64_t>(bytes)};
}

} // namespace fourfold::trainer
