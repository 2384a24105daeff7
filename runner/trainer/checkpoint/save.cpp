// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/checkpoint.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/checkpoint/publish.h"
#include "runner/trainer/checkpoint/safetensors.h"
#include "runner/trainer/checkpoint/stored_layout.h"
#include "runner/trainer/comm/texts.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;

// The format's word for the type of a buffer.
std::string word_of(at::ScalarType type)
{
    return type == at::kDouble ? "F64" : type == at::kBFloat16 ? "BF16" : "F32";
}

// One pipeline rank's tensors: this rank takes part in gathering them, and writes them if `writer`.
class StageFiles {
public:
    StageFiles(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights)
        : plan_(plan)
        , mesh_(mesh)
        , weights_(weights)
        , writes_(mesh[GroupKind::tp].rank() == 0
              && std::ranges::all_of(weights.buckets(), [&](const Bucket& bucket) { return gathers(bucket); }))
    {
    }

    // `parts`: buffers beside weights.masters() with the suffix of their tensors' names. A rank that cannot write goes
    // on gathering, as the others wait for it; status() says what went wrong.
    using Parts = std::vector<std::pair<std::string, const std::vector<at::Tensor>*>>;
    void write(const fs::path& file, const Parts& parts)
    {
        std::vector<StoredTensor> tensors;
        for (const auto& [suffix, buffers] : parts)
            for (std::size_t b = 0; b < weights_.buckets().size(); ++b)
                for (const BucketEntry& entry : weights_.buckets()[b].entries) {
                    const Shard& shard = weights_.shards()[entry.shard];
                    if (!shard.second_copy)
                        for (const std::string& name : names_over_ep(shard))
                            tensors.push_back({name + suffix, word_of((*buffers)[b].scalar_type()),
                                StoredLayout(plan_.model, shard).shape()});
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
                const at::Tensor whole = weights_.whole(b, (*buffers)[b]);
                if (!gathers(weights_.buckets()[b]))
                    continue;
                for (const BucketEntry& entry : weights_.buckets()[b].entries) {
                    const Shard& shard = weights_.shards()[entry.shard];
                    if (shard.second_copy)
                        continue;
                    for (const at::Tensor& full : over_ep(over_tp(Weights::view(whole, entry, shard), shard), shard))
                        if (writer && status_)
                            status_ = append(*writer, full, StoredLayout(plan_.model, shard));
                }
            }
        if (writer && status_)
            status_ = writer->finish();
        if (writer && status_) {
            bytes_ += writer->bytes();
            sums_[file.filename().string()] = to_json(writer->sums());
        }
    }

    [[nodiscard]] const Expected<void>& status() const { return status_; }
    [[nodiscard]] int64_t bytes() const { return bytes_; } // that this rank wrote
    [[nodiscard]] const Json& sums() const { return sums_; } // FileSums of the files that this rank wrote, by name

private:
    // The first of the ranks that hold the same parameters.
    [[nodiscard]] bool gathers(const Bucket& bucket) const
    {
        return mesh_[bucket.groups.shard].rank() == 0 && mesh_[bucket.groups.copies].rank() == 0;
    }

    // The whole tensor of the table, from the parts of the TP ranks.
    [[nodiscard]] at::Tensor over_tp(const at::Tensor& own, const Shard& shard) const
    {
        const Communicator& group = mesh_[shard.parameter.expert >= 0 ? GroupKind::etp : GroupKind::tp];
        const int tp = group.size();
        if (shard.parameter.tp_dim < 0 || tp == 1)
            return own.contiguous();
        const at::Tensor all = group.all_gather(own.contiguous().unsqueeze(0));
        // Ranks that share key/value heads have the same part: one of them counts.
        const int copies = shard.replication == Replication::kv ? mesh_[GroupKind::tp_keys].size() : 1;
        std::vector<at::Tensor> parts;
        for (int rank = 0; rank < tp; rank += copies)
            parts.push_back(all[rank]);
        return at::cat(parts, shard.parameter.tp_dim);
    }

    // Of an expert, those of all ep ranks that stand at the same place; else the tensor alone.
    [[nodiscard]] std::vector<at::Tensor> over_ep(const at::Tensor& own, const Shard& shard) const
    {
        if (shard.parameter.expert < 0)
            return {own};
        return mesh_[GroupKind::ep].all_gather(own.unsqueeze(0)).unbind(0);
    }
    [[nodiscard]] std::vector<std::string> names_over_ep(const Shard& shard) const
    {
        if (shard.parameter.expert < 0)
            return {shard.parameter.name};
        std::vector<std::string> names;
        const int ranks = plan_.layout.ep, each = plan_.model.experts->count / ranks;
        for (int rank = 0; rank < ranks; ++rank)
            names.push_back(name_of_expert(shard.parameter, rank * each + shard.parameter.expert % each));
        return names;
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
    bool writes_;
    Expected<void> status_;
    int64_t bytes_ = 0;
    Json sums_ = Json::object();
};

// Of all ranks, that they reported. A file that is not here as it was written is on a disk of another node.
Expected<Checksums::Files> written_files(const fs::path& folder, const std::vector<std::string>& reported)
{
    Checksums::Files files;
    for (const std::string& text : reported) {
        const Json json = Json::parse(text);
        for (const auto& [name, sums] : json.items()) {
            FOURFOLD_TRY(files[name], file_sums_from_json(sums, name));
            std::error_code error;
            if (int64_t(fs::file_size(folder / name, error)) != files[name].bytes)
                return Problem{ProblemCode::io, "the file that another rank wrote is not here",
                    "set run.checkpoint.path to a folder that all nodes share", (folder / name).string()};
        }
    }
    return files;
}

// What ties the files of all pipeline ranks together, the checksums last.
Expected<void> write_index(const fs::path& folder, int steps, int updates, const LossScaler::State& scale,
    const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk, int64_t bytes,
    const std::vector<std::string>& reported)
{
    FOURFOLD_TRY(Checksums::Files files, written_files(folder, reported));
    Json places = Json::object(), moments = Json::object();
    const int pp = plan.layout.pp;
    for (int place = 0; place < pp * plan.layout.ep; ++place) {
        const int stage = place / plan.layout.ep;
        for (const Shard& shard : shard_table(plan, stage_of_chunk, stage, 0, {place % plan.layout.ep, 0})) {
            if (shard.second_copy)
                continue;
            places[shard.parameter.name] = stage_file("model", stage, pp);
            for (const std::string suffix : {kFirstMoment, kSecondMoment})
                moments[shard.parameter.name + suffix] = stage_file("optimizer", stage, pp);
        }
    }
    const auto write = [&](const std::string& name, const Json& json) {
        const std::string text = json.dump(1);
        files[name] = sums_of_text(text);
        return write_file_atomically(folder / name, text);
    };
    FOURFOLD_CHECK(write(index_name("model"), {{"metadata", {{"total_size", bytes}}}, {"weight_map", places}}));
    FOURFOLD_CHECK(write(index_name("optimizer"), {{"weight_map", moments}}));
    FOURFOLD_CHECK(write("config.json", config_from_model(plan.model)));
    FOURFOLD_CHECK(write(kStateFile,
        {{"fourfold_checkpoint", kCheckpointVersion}, {"step", steps}, {"updates", updates}, {"seed", plan.run.seed},
            {"plan_hash", plan_hash(plan)}, {"loss_scale", scale.scale}, {"loss_scale_steps", scale.steady}}));
    return Checksums(std::move(files)).write(folder);
}

// True where every rank says so.
bool all_agree(const Mesh& mesh, bool own, const at::TensorOptions& options, double& sum)
{
    const at::Tensor figures = at::tensor({own ? 0.0 : 1.0, sum}, at::TensorOptions(at::kDouble)).to(options.device());
    mesh[GroupKind::world].all_reduce(figures);
    const at::Tensor known = figures.cpu();
    sum = known[1].item<double>();
    return known[0].item<double>() == 0;
}
} // namespace

Expected<SavedCheckpoint> save_checkpoint(const fs::path& folder, int steps, const ResolvedPlan& plan, const Mesh& mesh,
    const Weights& weights, const Adam& optimizer, const LossScaler& loss_scaler)
{
    const fs::path target = folder / step_name(steps);
    const fs::path partial = folder / (step_name(steps) + kPartial);
    const auto options = weights.masters()[0].options();
    const auto together = [&](const Expected<void>& own, double& sum) -> Expected<void> {
        if (all_agree(mesh, own.has_value(), options, sum))
            return {};
        if (!own)
            return own.error();
        return Problem{
            ProblemCode::cancelled, "another rank could not write the checkpoint", "see its error", target.string()};
    };

    const bool leads = mesh[GroupKind::world].rank() == 0;
    double nothing = 0;
    Expected<void> emptied;
    std::error_code error;
    if (leads) { // what a killed run left there is none of this checkpoint's
        emptied = check_only_ours(partial);
        if (emptied)
            fs::remove_all(partial, error);
        if (error)
            emptied = Problem{ProblemCode::io, "cannot empty it: " + error.message(), "", partial.string()};
    }
    FOURFOLD_CHECK(together(emptied, nothing));

    FOURFOLD_CHECK(together(make_folders(partial), nothing));
    StageFiles files(plan, mesh, weights);
    const int pp = plan.layout.pp;
    files.write(partial / stage_file("model", mesh.at.pp, pp), {{"", &weights.masters()}});
    files.write(partial / stage_file("optimizer", mesh.at.pp, pp),
        {{kFirstMoment, &optimizer.first_moment()}, {kSecondMoment, &optimizer.second_moment()}});
    double bytes = double(files.bytes());
    const auto written = together(files.status(), bytes);
    if (!written) {
        if (leads)
            fs::remove_all(partial, error); // its room is needed to say so
        return written.error();
    }
    const auto reported = all_texts(mesh[GroupKind::world], files.sums().dump(), options.device());

    Expected<void> finished;
    if (leads) {
        finished = write_index(partial, steps, optimizer.updates(), loss_scaler.state(), plan,
            mesh.schedule.stage_of_chunk, int64_t(bytes), reported);
        if (finished)
            finished = publish_step(partial, target);
        if (finished)
            remove_oldest(folder, steps, plan.run.checkpoint.keep);
        else if (finished.error().code != ProblemCode::refused) // then it is whole, and set aside
            fs::remove_all(partial, error);
    }
    nothing = 0;
    FOURFOLD_CHECK(together(finished, nothing));
    return SavedCheckpoint{target, static_cast<int64_t>(bytes)};
}

} // namespace fourfold::trainer
