// SPDX-License-Identifier: GPL-3.0-or-later
// What the folder of a checkpoint, or of a model of Hugging Face's, holds: the files that its indexes name, checked
// against its checksums. Files that nothing names are not looked at.
#pragma once

#include "runner/trainer/checkpoint/stored_layout.h"
#include "runner/trainer/checkpoint/tensor_source.h"

#include <memory>

namespace fourfold::trainer {

// Who asks for a checkpoint, for what is said of it.
struct CheckpointAsker {
    std::string field = "run.checkpoint.load", model = "the plan's model",
                cure = "give a checkpoint of the plan's model";
};
// An option of one of the trainer's tools: the model is that of the checkpoint's config.json.
CheckpointAsker asked_by(const std::string& option);

// Whole tensors, as Hugging Face stores them.
class TensorFolder : public TensorSource {
public:
    // `index`: file by tensor. The Problem names a file that lacks a tensor, or is none.
    static Expected<TensorFolder> open(const std::filesystem::path& folder,
        const std::map<std::string, std::string>& index, CheckpointAsker asker = {});
    // All tensors of these files.
    static Expected<TensorFolder> open(
        const std::filesystem::path& folder, const std::vector<std::string>& files, CheckpointAsker asker = {});

    [[nodiscard]] Expected<std::vector<double>> read(const ModelShape& model, const Shard& shard,
        const std::string& suffix, int64_t begin, int64_t end) const override;
    // The elements [begin, end) of a whole tensor, row-major as Hugging Face has it; else as read().
    [[nodiscard]] Expected<std::vector<double>> read_stored(
        const ModelShape& model, const Shard& shard, int64_t begin, int64_t end) const;

    // Names, types and shapes of the tensors.
    [[nodiscard]] std::string outline() const;

private:
    struct Place {
        std::shared_ptr<const SafetensorsReader> reader;
        const StoredTensor* tensor = nullptr;
    };
    [[nodiscard]] const Place* find(const std::string& name) const;
    // Of a tensor that has the shape of `layout`.
    [[nodiscard]] Expected<Place> place_of(const std::string& name, const StoredLayout& layout) const;

    std::string folder_;
    CheckpointAsker asker_;
    std::map<std::string, Place> by_name_;
};

struct CheckpointContents {
    TensorFolder model;
    std::shared_ptr<const TensorSource> states; // the optimizer's; none in a model of Hugging Face's
    int steps = 0, updates = 0; // so far
    double loss_scale = 0; // of fp16; 0: not told
    int loss_scale_steps = 0; // since it last changed
    bool checked = true; // false: a checkpoint of an earlier version, which has no checksums
    std::string identity; // as another's where they hold the same: their checksums, or what is known without

    // Reads the folder and checks this reader's share of it, `part` of `parts`.
    static Expected<CheckpointContents> open(
        const std::filesystem::path& folder, int part = 0, int parts = 1, const CheckpointAsker& asker = {});
};

} // namespace fourfold::trainer
