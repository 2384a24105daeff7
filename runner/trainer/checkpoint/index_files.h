// SPDX-License-Identifier: GPL-3.0-or-later
// What ties the files of all ranks together to a checkpoint: the indexes, and last the checksums.
#pragma once

#include "runner/trainer/checkpoint/pieces.h"

namespace fourfold::trainer {

// What one rank wrote.
struct WrittenFiles {
    Checksums::Files files;
    std::map<std::string, std::string> tensors; // weights: file by tensor
    PiecesByTensor pieces; // of the optimizer's states
    int64_t bytes_of_weights = 0;
};
Json to_json(const WrittenFiles& written);
Expected<WrittenFiles> written_files_from_json(const Json& json);

class IndexFiles {
public:
    explicit IndexFiles(std::filesystem::path folder)
        : folder_(std::move(folder))
    {
    }

    // A file that is not here as it was written is on the disk of another node: a Problem.
    Expected<void> add(WrittenFiles written);
    // `state` and `config`: trainer.json and config.json.
    Expected<void> write(const Json& state, const Json& config);
    [[nodiscard]] int64_t bytes() const; // of all files so far

private:
    std::filesystem::path folder_;
    WrittenFiles all_;
};

} // namespace fourfold::trainer
