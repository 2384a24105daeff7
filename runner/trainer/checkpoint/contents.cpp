// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/contents.h"

#include "core/base/input_file.h"
#include "runner/trainer/checkpoint/checksums.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/checkpoint/pieces.h"
#include "runner/trainer/checkpoint/publish.h"

#include <algorithm>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;
using Index = std::map<std::string, std::string>; // file by tensor

std::string in_words(const std::vector<int64_t>& shape)
{
    std::string text;
    for (const int64_t extent : shape)
        text += (text.empty() ? "[" : ", ") + std::to_string(extent);
    return text + "]";
}

Expected<Index> read_index(const fs::path& file)
{
    FOURFOLD_TRY(const Json json, read_json_file(file, kMostIndexBytes));
    const Json map = json.is_object() ? json.value("weight_map", Json()) : Json();
    Index index;
    for (const auto& [tensor, name] : map.items())
        if (name.is_string() && is_plain_name(name.get<std::string>()))
            index[tensor] = name.get<std::string>();
    if (index.empty() || index.size() != map.size())
        return Problem{
            ProblemCode::bad_input, "expected \"weight_map\": the name of a file for each tensor", "", file.string()};
    return index;
}

std::vector<std::string> files_of(const Index& index)
{
    std::vector<std::string> files;
    for (const auto& [tensor, file] : index)
        files.push_back(file);
    std::ranges::sort(files);
    files.erase(std::unique(files.begin(), files.end()), files.end());
    return files;
}

// A model of Hugging Face's: one file, or several with an index.
Expected<TensorFolder> open_model(const fs::path& folder, const CheckpointAsker& asker)
{
    std::error_code error;
    if (const fs::path index_file = folder / index_name("model"); fs::exists(index_file, error)) {
        FOURFOLD_TRY(const Index index, read_index(index_file));
        return TensorFolder::open(folder, index, asker);
    }
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.path().extension() == ".safetensors" && entry.path().filename().string().starts_with("model"))
            files.push_back(entry.path().filename().string());
    const std::string where = asker.field + " " + folder.string();
    if (error)
        return Problem{
            ProblemCode::not_found, "cannot open the checkpoint: " + error.message(), "give an existing folder", where};
    if (files.empty())
        return Problem{ProblemCode::not_found, "there is no model*.safetensors",
            "give the folder of a checkpoint, or of a model of Hugging Face's", where};
    if (files.size() > 1)
        return Problem{ProblemCode::bad_input,
            "there are " + std::to_string(files.size()) + " files model*.safetensors, but no " + index_name("model"),
            "it says which of them belong together", where};
    return TensorFolder::open(folder, files, asker);
}

Expected<int> whole_number(const Json& document, const std::string& key, const fs::path& file)
{
    if (document.is_object() && document.contains(key) && document[key].is_number_integer()
        && document[key].get<int64_t>() >= 0 && document[key].get<int64_t>() <= 1'000'000'000)
        return document[key].get<int>();
    return Problem{ProblemCode::bad_input, "expected a whole number \"" + key + "\"",
        "give a checkpoint that fourfold-trainer wrote", file.string()};
}

// Its files may be whole one by one and belong to different steps, or not be there yet.
Expected<void> check_ended(const fs::path& folder)
{
    const fs::path named = folder.has_filename() ? folder : folder.parent_path();
    const std::string ending = named.extension().string();
    if ((ending == kPartial || ending == kRemoved) && step_of(named.stem()))
        return Problem{ProblemCode::refused,
            std::string("is left of a ") + (ending == kPartial ? "save" : "removal") + " that did not end",
            "give a step without " + ending, folder.string()};
    return {};
}
} // namespace

CheckpointAsker asked_by(const std::string& option)
{
    return {option, "the model of its config.json", "its weights and its config.json are of different models"};
}

Expected<TensorFolder> TensorFolder::open(
    const fs::path& folder, const std::vector<std::string>& files, CheckpointAsker asker)
{
    TensorFolder tensors;
    tensors.asker_ = std::move(asker);
    tensors.folder_ = folder.string();
    for (const std::string& file : files) {
        FOURFOLD_TRY(const auto reader, SafetensorsReader::open(folder / file));
        for (const auto& [name, tensor] : reader->tensors())
            tensors.by_name_[name] = {reader, &tensor};
    }
    return tensors;
}

Expected<TensorFolder> TensorFolder::open(const fs::path& folder, const Index& index, CheckpointAsker asker)
{
    TensorFolder tensors;
    tensors.asker_ = std::move(asker);
    tensors.folder_ = folder.string();
    std::map<std::string, std::shared_ptr<const SafetensorsReader>> readers;
    for (const std::string& file : files_of(index)) {
        FOURFOLD_TRY(readers[file], SafetensorsReader::open(folder / file));
    }
    for (const auto& [name, file] : index) {
        const auto& reader = readers.at(file);
        const auto tensor = reader->tensors().find(name);
        if (tensor == reader->tensors().end())
            return Problem{ProblemCode::bad_input, "it has no tensor \"" + name + "\", which the index places there",
                "", reader->path()};
        tensors.by_name_[name] = {reader, &tensor->second};
    }
    return tensors;
}

// Files of a model without its head leave out the first word of the names.
const TensorFolder::Place* TensorFolder::find(const std::string& name) const
{
    for (const std::string prefix : {"", "transformer.", "model."}) {
        const auto found = name.starts_with(prefix) ? by_name_.find(name.substr(prefix.size())) : by_name_.end();
        if (found != by_name_.end())
            return &found->second;
    }
    return nullptr;
}

Expected<TensorFolder::Place> TensorFolder::place_of(const std::string& name, const StoredLayout& layout) const
{
    const Place* place = find(name);
    if (!place)
        return Problem{
            ProblemCode::bad_input, "there is no tensor \"" + name + "\"", asker_.cure, asker_.field + " " + folder_};
    const StoredTensor& tensor = *place->tensor;
    if (tensor.shape != layout.shape())
        return Problem{ProblemCode::bad_input,
            "\"" + name + "\" has the shape " + in_words(tensor.shape) + ", " + asker_.model + " needs "
                + in_words(layout.shape()),
            asker_.cure, place->reader->path()};
    if (tensor.bytes() == 0)
        return Problem{ProblemCode::unsupported,
            "\"" + name + "\" holds " + tensor.dtype + ", expected F64, F32, F16 or BF16", "", place->reader->path()};
    return *place;
}

Expected<std::vector<double>> TensorFolder::read_stored(
    const ModelShape& model, const Shard& shard, int64_t begin, int64_t end) const
{
    FOURFOLD_TRY(const Place place, place_of(shard.parameter.name, StoredLayout(model, shard)));
    std::vector<double> values(std::size_t(end - begin));
    FOURFOLD_CHECK(place.reader->read(*place.tensor, begin, 1, end - begin, values.data()));
    return values;
}

Expected<std::vector<double>> TensorFolder::read(
    const ModelShape& model, const Shard& shard, const std::string& suffix, int64_t begin, int64_t end) const
{
    StoredLayout layout(model, shard);
    const auto together = suffix.empty() ? StoredLayout::among_experts(model, shard) : std::nullopt;
    if (together && !find(layout.name()))
        layout = *together;
    FOURFOLD_TRY(const Place place, place_of(layout.name() + suffix, layout));
    const StoredTensor& tensor = *place.tensor;

    const bool by_row = shard.parameter.tp_dim == 0, by_column = shard.parameter.tp_dim == 1;
    const int64_t first_row = by_row ? shard.begin : 0, first_column = by_column ? shard.begin : 0;
    const int64_t columns = by_column ? shard.length : layout.columns();
    std::vector<double> values(std::size_t(end - begin), 0);
    for (int64_t at = begin, count = 0; at < end && first_row + at / columns < layout.rows(); at += count) {
        count = std::min(columns - at % columns, end - at);
        FOURFOLD_CHECK(place.reader->read(tensor, layout.index(first_row + at / columns, first_column + at % columns),
            layout.stride(), count, values.data() + (at - begin)));
    }
    return values;
}

std::string TensorFolder::outline() const
{
    std::string text;
    for (const auto& [name, place] : by_name_)
        text += name + " " + place.tensor->dtype + " " + in_words(place.tensor->shape) + "\n";
    return text;
}

namespace {
Expected<CheckpointContents> open_contents(const fs::path& folder, int part, int parts, const CheckpointAsker& asker)
{
    const fs::path state_file = folder / kStateFile;
    std::error_code unseen; // what cannot be looked at cannot be opened either
    const bool has_sums = fs::exists(folder / kChecksumFile, unseen);
    if (!has_sums && !fs::exists(state_file, unseen) && !step_of(folder)) {
        FOURFOLD_TRY(TensorFolder model, open_model(folder, asker));
        return CheckpointContents{.model = std::move(model), .states = nullptr};
    }
    if (has_sums) {
        FOURFOLD_TRY(const Checksums sums, Checksums::read(folder));
        FOURFOLD_CHECK(sums.check(folder, part, parts));
    }
    FOURFOLD_TRY(const Json state, read_json_file(state_file));
    FOURFOLD_TRY(const int version, whole_number(state, "fourfold_checkpoint", state_file));
    FOURFOLD_TRY(const int steps, whole_number(state, "step", state_file));
    FOURFOLD_TRY(const int updates, whole_number(state, "updates", state_file));
    // Of earlier checkpoints neither is known.
    const auto scale = state.find("loss_scale");
    const double loss_scale = scale != state.end() && scale->is_number() ? scale->get<double>() : 0;
    int loss_scale_steps = 0;
    if (loss_scale > 0) {
        FOURFOLD_TRY(loss_scale_steps, whole_number(state, "loss_scale_steps", state_file));
    }
    if (version > kCheckpointVersion)
        return Problem{
            ProblemCode::unsupported, "written by a newer Fourfold", "load it with that one", state_file.string()};
    if (version >= 2 && !has_sums)
        return Problem{ProblemCode::not_found, "it is missing: the checkpoint is not whole", "",
            (folder / kChecksumFile).string()};
    FOURFOLD_TRY(const Index index, read_index(folder / index_name("model")));
    FOURFOLD_TRY(TensorFolder model, TensorFolder::open(folder, index, asker));
    if (version >= 3) {
        FOURFOLD_TRY(auto pieces, PieceFolder::open(folder, folder / index_name("optimizer")));
        return CheckpointContents{.model = std::move(model),
            .states = std::move(pieces),
            .steps = steps,
            .updates = updates,
            .loss_scale = loss_scale,
            .loss_scale_steps = loss_scale_steps};
    }
    Expected<TensorFolder> states = [&]() -> Expected<TensorFolder> {
        if (version == 2) {
            FOURFOLD_TRY(const Index places, read_index(folder / index_name("optimizer")));
            return TensorFolder::open(folder, places, asker);
        }
        // The first version had no index for the optimizer's files, which are beside the model's.
        std::vector<std::string> files = files_of(index);
        for (std::string& file : files)
            file.replace(0, file.find('-'), "optimizer");
        return TensorFolder::open(folder, files, asker);
    }();
    FOURFOLD_CHECK(states);
    return CheckpointContents{.model = std::move(model),
        .states = std::make_shared<TensorFolder>(*std::move(states)),
        .steps = steps,
        .updates = updates,
        .loss_scale = loss_scale,
        .loss_scale_steps = loss_scale_steps,
        .checked = has_sums};
}
} // namespace

Expected<CheckpointContents> CheckpointContents::open(
    const fs::path& folder, int part, int parts, const CheckpointAsker& asker)
{
    FOURFOLD_CHECK(check_ended(folder));
    FOURFOLD_TRY(CheckpointContents contents, open_contents(folder, part, parts, asker));
    std::error_code unseen;
    const fs::path sums = folder / kChecksumFile;
    // Of some hundred bytes for each file: a digest of them is enough to compare.
    FOURFOLD_TRY(const std::string known,
        fs::exists(sums, unseen) ? read_text_file(sums, kMostIndexBytes)
                                 : Expected<std::string>(contents.model.outline()));
    contents.identity = std::to_string(contents.steps) + " " + sums_of_text(known + "\n").pieces.front();
    return contents;
}

} // namespace fourfold::trainer
