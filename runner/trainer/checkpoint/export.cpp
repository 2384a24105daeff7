// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/export.h"

#include "core/model/family.h"
#include "core/tokenizer/end_token.h"
#include "runner/trainer/checkpoint/contents.h"
#include "runner/trainer/checkpoint/export_folder.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/inference/one_rank_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;

// Of an element in its file.
std::uint32_t bits_of(double value, bool bf16)
{
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    constexpr std::uint32_t kAlmostHalf = 0x7FFF;
    return bf16 ? (bits + kAlmostHalf + (bits >> 16 & 1)) >> 16 : bits;
}

class ModelFiles {
public:
    ModelFiles(const ExportRequest& request, const ResolvedPlan& plan, const TensorFolder& tensors, fs::path folder)
        : request_(request)
        , model_(plan.model)
        , tensors_(tensors)
        , folder_(std::move(folder))
    {
        for (Shard& shard : shard_table(plan, {0}, 0, 0))
            if (!shard.second_copy)
                take(std::move(shard));
    }

    // Under transformers' names: one file, or several with an index.
    Expected<void> write(Exported& exported) const
    {
        Json map = Json::object();
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const std::string name
                = files_.size() == 1 ? "model.safetensors" : part_file("model", int(i), int(files_.size()));
            FOURFOLD_CHECK(write_file(files_[i], name));
            for (const Tensor& tensor : files_[i]) {
                map[tensor.stored.name] = name;
                exported.parameters += tensor.stored.elements();
                exported.bytes += tensor.stored.bytes();
            }
        }
        if (files_.size() == 1)
            return {};
        const Json index{{"metadata", {{"total_size", exported.bytes}}}, {"weight_map", map}};
        return write_file_atomically(folder_ / index_name("model"), index.dump(2) + "\n");
    }

private:
    struct Tensor {
        std::vector<Shard> shards; // one, or of all experts of a layer what is one tensor there
        StoredTensor stored;
    };

    void take(Shard shard)
    {
        if (const auto together = StoredLayout::among_experts(model_, shard)) {
            auto place = together_.find(together->name());
            if (place == together_.end())
                place = together_.emplace(together->name(), deal({together->name(), request_.dtype, together->shape()}))
                            .first;
            files_[place->second.first][place->second.second].shards.push_back(std::move(shard));
            return;
        }
        const auto [file, tensor] = deal({shard.parameter.name, request_.dtype, StoredLayout(model_, shard).shape()});
        files_[file][tensor].shards.push_back(std::move(shard));
    }

    // Its file and its place there.
    std::pair<std::size_t, std::size_t> deal(StoredTensor stored)
    {
        if (files_.empty() || (filled_ > 0 && filled_ + stored.bytes() > request_.shard_bytes)) {
            files_.emplace_back();
            filled_ = 0;
        }
        filled_ += stored.bytes();
        files_.back().push_back({{}, std::move(stored)});
        return {files_.size() - 1, files_.back().size() - 1};
    }

    Expected<void> write_file(const std::vector<Tensor>& tensors, const std::string& name) const
    {
        std::vector<StoredTensor> stored;
        for (const Tensor& tensor : tensors)
            stored.push_back(tensor.stored);
        FOURFOLD_TRY(const auto writer, SafetensorsWriter::create(folder_ / name, stored, {{"format", "pt"}}));
        for (const Tensor& tensor : tensors)
            FOURFOLD_CHECK(copy(tensor, *writer));
        return writer->finish();
    }

    Expected<void> copy(const Tensor& tensor, SafetensorsWriter& writer) const
    {
        if (StoredLayout::among_experts(model_, tensor.shards.front()))
            return copy_experts(tensor, writer);
        constexpr int64_t kPiece = 1 << 20; // elements
        const int64_t elements = tensor.stored.elements();
        for (int64_t at = 0; at < elements; at += kPiece) {
            FOURFOLD_TRY(const auto values,
                tensors_.read_stored(model_, tensor.shards.front(), at, std::min(elements, at + kPiece)));
            FOURFOLD_CHECK(append(values, tensor, writer));
        }
        return {};
    }

    // One expert after the other, each put together of its gates and ups.
    Expected<void> copy_experts(const Tensor& tensor, SafetensorsWriter& writer) const
    {
        const int experts = model_.experts->count;
        const int64_t each = tensor.stored.elements() / experts;
        std::vector<double> block(static_cast<std::size_t>(each));
        for (int expert = 0; expert < experts; ++expert) {
            for (const Shard& shard : tensor.shards) {
                if (shard.parameter.expert != expert)
                    continue;
                const auto layout = StoredLayout::among_experts(model_, shard);
                FOURFOLD_TRY(const auto values, tensors_.read(model_, shard, "", 0, shard.elements()));
                for (int64_t i = 0; i < shard.elements(); ++i)
                    block[std::size_t(layout->index(i / layout->columns(), i % layout->columns()) - expert * each)]
                        = values[std::size_t(i)];
            }
            FOURFOLD_CHECK(append(block, tensor, writer));
        }
        return {};
    }

    Expected<void> append(const std::vector<double>& values, const Tensor& tensor, SafetensorsWriter& writer) const
    {
        const bool bf16 = request_.dtype == "BF16";
        std::string bytes;
        for (const double value : values) {
            const std::uint32_t bits = bits_of(value, bf16);
            if (!std::isfinite(std::bit_cast<float>(bf16 ? bits << 16 : bits)))
                return Problem{ProblemCode::failed,
                    "\"" + tensor.stored.name + "\" holds a value that is not finite: the run diverged",
                    "export an earlier checkpoint", request_.checkpoint.string()};
            for (int byte = 0; byte < (bf16 ? 2 : 4); ++byte)
                bytes += static_cast<char>(bits >> 8 * byte);
        }
        return writer.append(bytes.data(), bytes.size());
    }

    const ExportRequest& request_;
    const ModelShape& model_;
    const TensorFolder& tensors_;
    fs::path folder_;
    std::vector<std::vector<Tensor>> files_;
    // Where the tensors of all experts of a layer are: file, and place there.
    std::map<std::string, std::pair<std::size_t, std::size_t>> together_;
    int64_t filled_ = 0; // bytes of the last
};

// The tokenizer's files go as they are; where tokenizer.json stands alone, transformers needs a word on what it is.
class TokenizerFiles {
public:
    static Expected<TokenizerFiles> find(const ExportRequest& request, const fs::path& checkpoint)
    {
        TokenizerFiles found;
        std::error_code error;
        const fs::path named = request.tokenizer.empty() ? checkpoint : request.tokenizer;
        found.file_ = fs::is_directory(named, error) ? named / "tokenizer.json" : named;
        if (request.tokenizer.empty() && !fs::exists(found.file_, error)) {
            found.file_.clear();
            return found;
        }
        FOURFOLD_TRY(const auto tokenizer, Tokenizer::open(found.file_));
        found.vocabulary_ = tokenizer->vocabulary_size();
        FOURFOLD_TRY(found.end_, usual_end_token(found.file_, *tokenizer));
        if (found.end_)
            found.end_id_ = tokenizer->id_of(*found.end_);
        if (tokenizer->before().size() == 1)
            found.begin_id_ = tokenizer->before()[0];
        return found;
    }

    [[nodiscard]] bool found() const { return !file_.empty(); }
    [[nodiscard]] std::string where() const { return file_.string(); }
    [[nodiscard]] int64_t vocabulary() const { return vocabulary_; }
    // "bos_token_id" and "eos_token_id", as far as they are known.
    [[nodiscard]] Json ids() const
    {
        Json ids = Json::object();
        if (begin_id_)
            ids["bos_token_id"] = *begin_id_;
        if (end_id_)
            ids["eos_token_id"] = *end_id_;
        return ids;
    }

    Expected<void> copy(const fs::path& folder, int64_t positions) const
    {
        constexpr std::array kNames{"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
            "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "chat_template.jinja"};
        std::error_code error;
        fs::copy_file(file_, folder / "tokenizer.json", error);
        for (const char* const name : kNames)
            if (const fs::path from = file_.parent_path() / name; !error && fs::is_regular_file(from, error))
                fs::copy_file(from, folder / name, error);
        if (error && error != std::errc::no_such_file_or_directory)
            return Problem{ProblemCode::io, "cannot be copied: " + error.message(), "", file_.string()};
        if (fs::exists(folder / "tokenizer_config.json", error))
            return {};
        Json config{{"tokenizer_class", "PreTrainedTokenizerFast"}, {"model_max_length", positions}};
        if (end_)
            config["eos_token"] = *end_;
        return write_file_atomically(folder / "tokenizer_config.json", config.dump(2) + "\n");
    }

private:
    fs::path file_; // empty: there is none
    int64_t vocabulary_ = 0;
    std::optional<std::string> end_;
    std::optional<std::uint32_t> begin_id_, end_id_;
};

// A model of Hugging Face's keeps its own keys.
Expected<Json> config_of(const fs::path& folder, const ResolvedPlan& plan, const ExportRequest& request, Json ids)
{
    FOURFOLD_TRY(Json config, read_json_file(folder / "config.json"));
    if (!config.contains("architectures")) {
        config = config_from_model(plan.model);
        config.erase("id");
        config.erase("name");
        config["architectures"] = {find_family(plan.model.model_type)->architecture};
        // transformers takes no 256.0 for it.
        if (const auto scalar = config.find("query_pre_attn_scalar"); scalar != config.end())
            if (const double value = scalar->get<double>(); value == std::floor(value))
                *scalar = static_cast<int64_t>(value);
    }
    config.erase("dtype");
    config["torch_dtype"] = request.dtype == "BF16" ? "bfloat16" : "float32";
    config.update(ids);
    return config;
}
} // namespace

Expected<Exported> export_model(const ExportRequest& request)
{
    const fs::path folder = checkpoint_folder(request.checkpoint);
    FOURFOLD_CHECK(check_export_output(request.output, folder));
    FOURFOLD_TRY(const CheckpointContents contents, CheckpointContents::open(folder, 0, 1, asked_by("--export")));
    FOURFOLD_TRY(const ResolvedPlan plan, one_rank_plan(folder));
    FOURFOLD_TRY(const TokenizerFiles tokenizer, TokenizerFiles::find(request, folder));
    if (tokenizer.vocabulary() > plan.model.vocab)
        return Problem{ProblemCode::bad_input,
            "has " + std::to_string(tokenizer.vocabulary()) + " tokens, the model " + std::to_string(plan.model.vocab),
            "give the tokenizer that its data were made with", tokenizer.where()};

    FOURFOLD_TRY(ExportFolder output, ExportFolder::make(request.output));
    Exported exported;
    FOURFOLD_CHECK(ModelFiles(request, plan, contents.model, output.partial()).write(exported));
    const auto write_json = [&](const char* name, const Json& json) {
        return write_file_atomically(output.partial() / name, json.dump(2) + "\n");
    };
    FOURFOLD_TRY(const Json config, config_of(folder, plan, request, tokenizer.ids()));
    FOURFOLD_CHECK(write_json("config.json", config));
    Json generation{{"_from_model_config", true}};
    generation.update(tokenizer.ids());
    FOURFOLD_CHECK(write_json("generation_config.json", generation));
    if (tokenizer.found())
        FOURFOLD_CHECK(tokenizer.copy(output.partial(), plan.model.max_positions));
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(output.partial(), error))
        exported.files.push_back(entry.path().filename().string());
    std::ranges::sort(exported.files);
    FOURFOLD_CHECK(output.publish(exported.files));
    if (!tokenizer.found())
        exported.notes.emplace_back("no tokenizer: give --tokenizer tokenizer.json");
    if (!contents.checked)
        exported.notes.emplace_back("the checkpoint has no checksums: whether it is damaged was not checked");
    return exported;
}

} // namespace fourfold::trainer
