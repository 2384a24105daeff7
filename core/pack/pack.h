// SPDX-License-Identifier: GPL-3.0-or-later
// Text to a token file: documents are read in order, encoded on all cores, and written with an index of Megatron's kind
// (core/dataset/token_index.h). The work can be cut anywhere, by a signal, a full disk or a power cut: the same request
// goes on from what was whole. Nothing stands under the output's names before all of it does.
#pragma once

#include "core/pack/documents.h"

#include <functional>
#include <optional>
#include <stop_token>

namespace fourfold {

struct PackRequest {
    std::vector<std::string> inputs; // files and folders
    std::filesystem::path tokenizer; // tokenizer.json
    std::filesystem::path output; // OUTPUT.bin and OUTPUT.idx; a .bin at the end is taken off
    DocumentOptions documents;
    // The token behind each document: of that text; nothing: the one that the tokenizer's files call the end of a text
    // (`eos_token` of tokenizer_config.json beside it, or a usual name); empty: none.
    std::optional<std::string> end_token;
    bool apply_template = false; // the special tokens that the tokenizer's own template puts around a text
    int threads = 0; // 0: one per core
};

struct PackProgress {
    std::int64_t bytes_done = 0, bytes = 0; // of the inputs
    std::int64_t tokens = 0;
};

struct PackResult {
    std::int64_t documents = 0, left_out = 0, tokens = 0, bytes = 0; // left_out: empty, or not UTF-8 where those go
    std::int64_t resumed_bytes = 0; // of the inputs that an earlier call had done
    std::uint32_t vocabulary = 0; // what a model needs at least
    int token_bytes = 2;
    std::filesystem::path tokens_file, index_file;
    std::vector<std::string> warnings;
};

// `progress` is called now and then, on the calling thread. A stop ends with `cancelled`, whose hint says how to go on.
Expected<PackResult> pack(
    const PackRequest& request, const std::function<void(const PackProgress&)>& progress, const std::stop_token& stop);

} // namespace fourfold
