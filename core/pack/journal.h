// SPDX-License-Identifier: GPL-3.0-or-later
// What a packing has done for good: written after the files that it speaks of are durable.
#pragma once

#include "core/base/json.h"
#include "core/pack/documents.h"

namespace fourfold {

struct PackJournal {
    // What is packed, and how. A journal of another request is not gone on with.
    std::string tokenizer_sha256;
    std::vector<InputFileState> inputs;
    DocumentOptions documents;
    std::string ends; // ids before and behind a document, as text
    // How far it came.
    InputPosition position;
    std::int64_t count = 0, left_out = 0, tokens = 0, bytes = 0;

    [[nodiscard]] Json json() const;
    static Expected<PackJournal> read(const std::filesystem::path& file);
    // Why this request does not go on with what was `begun`: "a FILE that has changed since"; empty where it does.
    [[nodiscard]] std::string difference(const PackJournal& begun) const;
};

} // namespace fourfold
