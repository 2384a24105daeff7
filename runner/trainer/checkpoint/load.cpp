// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/checkpoint.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/checkpoint/safetensors.h"
#include "runner/trainer/checkpoint/stored_layout.h"

#include <algorithm>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;

std::string in_words(const std::vector<int64_t>& shape)
{
    std::string text;
    for (const int64_t extent : shape)
        text += (text.empty() ? "[" : ", ") + std::to_string(extent);
    return text + "]";
}

// All tensors of the files of one kind in a folder.
class TensorFolder {
public:
    // `kind`: how the files' names begin ("model", "optimizer").
    static Expected<TensorFolder> open(const fs::path& folder, const std::string& kind)
    {
        TensorFolder tensors;
        tensors.folder_ = folder.string();
        std::vector<fs::path> files;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error))
            if (entry.path().extension() == ".safetensors" && entry.path().filename().string().starts_with(kind))
                files.push_back(entry.path());
        if (error)
            return Problem{ProblemCode::not_found, "cannot open the checkpoint: " + error.message(),
                "give an existing folder", "run.checkpoint.load " + tensors.folder_};
        if (files.empty())
            return Problem{ProblemCode::not_found, "there is no " + kind + "*.safetensors",
                "give the folder of a checkpoint, or of a model of Hugging Face's",
                "run.checkpoint.load " + tensors.folder_};
        std::ranges::sort(files);
        for (const fs::path& file : files) {
            FOURFOLD_TRY(const auto reader, SafetensorsReader::open(file));
            for (const auto& [name, tensor] : reader->tensors())
                tensors.by_name_[name] = {reader, &tensor};
        }
        return tensors;
    }

    // This rank's part of a parameter, row-major; rows of vocabulary padding are zero.
    Expected<std::vector<double>> read(const ModelShape& model, const Shard& shard, const std::string& suffix) const
    {
        const std::string name = shard.parameter.name + suffix;
        const Place* place = find(name);
        if (!place)
            return Problem{ProblemCode::bad_input, "there is no tensor \"" + name + "\"",
                "give a checkpoint of the plan's model", "run.checkpoint.load " + folder_};
        const StoredLayout layout(model, shard);
        const StoredTensor& tensor = *place->tensor;
        if (tensor.shape != layout.shape())
            return Problem{ProblemCode::bad_input,
                "\"" + name + "\" has the shape " + in_words(tensor.shape) + ", the plan's model needs "
                    + in_words(layout.shape()),
                "give a checkpoint of the plan's model", place->reader->path()};
        if (tensor.bytes() == 0)
            return Problem{ProblemCode::unsupported,
                "\"" + name + "\" holds " + tensor.dtype + ", expected F64, F32, F16 or BF16", "",
                place->reader->path()};

        const bool by_row = shard.parameter.tp_dim == 0, by_column = shard.parameter.tp_dim == 1;
        const int64_t first_row = by_row ? shard.begin : 0, rows = shard.shape()[0];
        const int64_t first_column = by_column ? shard.begin : 0;
        const int64_t columns = by_column ? shard.length : layout.columns();
        std::vector<double> values(std::size_t(rows * columns), 0);
        for (int64_t row = 0; row < rows && first_row + row < layout.rows(); ++row)
            place->reader->read(tensor, layout.index(first_row + row, first_column), layout.stride(), columns,
                values.data() + row * columns);
        return values;
    }

private:
    struct Place {
        std::shared_ptr<const SafetensorsReader> reader;
        const StoredTensor* tensor = nullptr;
    };
    // Files of a model without its head leave out the first word of the names.
    [[nodiscard]] const Place* find(const std::string& name) const
    {
        for (const std::string prefix : {"", "transformer.", "model."}) {
            const auto found = name.starts_with(prefix) ? by_name_.find(name.substr(prefix.size())) : by_name_.end();
            if (found != by_name_.end())
                return &found->second;
        }
        return nullptr;
    }

    std::string folder_;
    std::map<std::string, Place> by_name_;
};

Expected<void> read_all(const TensorFolder& tensors, const ModelShape& model, const Weights& weights,
    const std::vector<at::Tensor>& buffers, const std::string& suffix)
{
    for (std::size_t b = 0; b < buffers.size(); ++b)
        for (const BucketEntry& entry : weights.buckets()[b].entries) {
            FOURFOLD_TRY(const auto values, tensors.read(model, weights.shards()[entry.shard], suffix));
            weights.write(buffers[b], entry, values);
        }
    return {};
}

Expected<int> count(const Json& document, const std::string& key, const fs::path& file)
{
    if (document.is_object() && document.contains(key) && document[key].is_number_integer()
        && document[key].get<int64_t>() >= 0 && document[key].get<int64_t>() <= 1'000'000'000)
        return document[key].get<int>();
    return Problem{ProblemCode::bad_input, "expected a whole number \"" + key + "\"",
        "give a checkpoint that fourfold-trainer wrote", file.string()};
}
} // namespace

Expected<int> load_checkpoint(
    const fs::path& folder, const ResolvedPlan& plan, const Weights& weights, AdamW& optimizer)
{
    const auto steps = step_folders(folder);
    const fs::path source = steps.empty() ? folder : steps.rbegin()->second;
    FOURFOLD_TRY(const TensorFolder model, TensorFolder::open(source, "model"));
    FOURFOLD_CHECK(read_all(model, plan.model, weights, weights.masters(), ""));
    const fs::path state_file = source / "trainer.json";
    if (!fs::exists(state_file))
        return 0;

    FOURFOLD_TRY(const Json state, read_json_file(state_file));
    FOURFOLD_TRY(const int finished, count(state, "step", state_file));
    FOURFOLD_TRY(const int updates, count(state, "updates", state_file));
    FOURFOLD_TRY(const TensorFolder moments, TensorFolder::open(source, "optimizer"));
    FOURFOLD_CHECK(read_all(moments, plan.model, weights, optimizer.first_moment(), kFirstMoment));
    FOURFOLD_CHECK(read_all(moments, plan.model, weights, optimizer.second_moment(), kSecondMoment));
    optimizer.set_updates(updates);
    return finished;
}

} // namespace fourfold::trainer
