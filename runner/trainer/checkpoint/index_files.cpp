// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/index_files.h"

#include "runner/trainer/checkpoint/names.h"

namespace fourfold::trainer {

namespace fs = std::filesystem;

Json to_json(const WrittenFiles& written)
{
    Json files = Json::object();
    for (const auto& [name, sums] : written.files)
        files[name] = to_json(sums);
    return {{"files", files}, {"tensors", written.tensors}, {"pieces", to_json(written.pieces)},
        {"bytes_of_weights", written.bytes_of_weights}};
}

Expected<WrittenFiles> written_files_from_json(const Json& json)
{
    const std::string where = "what a rank wrote of a checkpoint";
    WrittenFiles written;
    try {
        for (const auto& [name, sums] : json.at("files").items()) {
            FOURFOLD_TRY(written.files[name], file_sums_from_json(sums, where));
        }
        written.tensors = json.at("tensors").get<std::map<std::string, std::string>>();
        written.bytes_of_weights = json.at("bytes_of_weights").get<int64_t>();
        FOURFOLD_TRY(written.pieces, pieces_from_json(json.at("pieces"), where));
    } catch (const Json::exception& error) {
        return Problem{ProblemCode::bad_input, error.what(), "", where};
    }
    return written;
}

Expected<void> IndexFiles::add(WrittenFiles written)
{
    for (const auto& [name, sums] : written.files) {
        std::error_code error;
        if (int64_t(fs::file_size(folder_ / name, error)) != sums.bytes || error)
            return Problem{ProblemCode::io, "the file that another rank wrote is not here",
                "set run.checkpoint.path to a folder that all nodes share", (folder_ / name).string()};
    }
    all_.files.merge(written.files);
    all_.tensors.merge(written.tensors);
    for (auto& [tensor, pieces] : written.pieces)
        std::ranges::move(pieces, std::back_inserter(all_.pieces[tensor]));
    all_.bytes_of_weights += written.bytes_of_weights;
    return {};
}

Expected<void> IndexFiles::write(const Json& state, const Json& config)
{
    const auto put = [&](const std::string& name, const Json& json, int indent) {
        const std::string text = json.dump(indent);
        all_.files[name] = sums_of_text(text);
        return write_file_atomically(folder_ / name, text);
    };
    FOURFOLD_CHECK(put(
        index_name("model"), {{"metadata", {{"total_size", all_.bytes_of_weights}}}, {"weight_map", all_.tensors}}, 1));
    FOURFOLD_CHECK(put(index_name("optimizer"), {{"pieces", to_json(all_.pieces)}}, -1));
    FOURFOLD_CHECK(put("config.json", config, 1));
    FOURFOLD_CHECK(put(kStateFile, state, 1));
    return Checksums(all_.files).write(folder_);
}

int64_t IndexFiles::bytes() const
{
    int64_t bytes = 0;
    for (const auto& [name, sums] : all_.files)
        bytes += sums.bytes;
    return bytes;
}

} // namespace fourfold::trainer
