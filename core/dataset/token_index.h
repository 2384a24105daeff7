// SPDX-License-Identifier: GPL-3.0-or-later
// Where the documents of a token file lie: Megatron's indexed dataset (`.idx` beside `.bin`; Megatron-LM,
// megatron/core/datasets/indexed_dataset.py). The .bin holds nothing but little-endian token ids, so that it is a plain
// token file as well. The .idx, little-endian: "MMIDIDX\0\0", version 1 (u64), type of the ids (u8: 4 int32, 8 uint16,
// 1 uint8), number of sequences (u64), number of document bounds (u64), tokens per sequence (i32 each), where each
// begins in the .bin (i64 bytes each), the first sequence of each document and the number of sequences (i64 each).
#pragma once

#include "core/base/data_file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace fourfold {

// How many bytes one token takes.
enum class TokenBytes : std::uint8_t { one = 1, two = 2, four = 4 };

// Immutable; opening reads the head alone, whatever the number of documents. Several threads may read at once.
class TokenIndex {
public:
    // "corpus.idx" for "corpus.bin"; where the name has no such end, one more.
    static std::filesystem::path beside(const std::filesystem::path& tokens);
    // Fails (bad_input) where the file is no index of whole ids, or shorter or longer than its head says.
    static Expected<std::shared_ptr<const TokenIndex>> open(const std::filesystem::path& file);
    TokenIndex(const TokenIndex&) = delete;
    TokenIndex& operator=(const TokenIndex&) = delete;

    [[nodiscard]] TokenBytes token_bytes() const { return bytes_; }
    [[nodiscard]] std::int64_t sequences() const { return sequences_; }
    // Bytes that the .bin must have.
    [[nodiscard]] Expected<std::int64_t> data_bytes() const;
    // Tokens of sequence `i`, and the byte at which it begins. Precondition: 0 <= i < sequences().
    struct Sequence {
        std::int64_t first_byte = 0, tokens = 0;
    };
    [[nodiscard]] Expected<Sequence> sequence(std::int64_t i) const;
    [[nodiscard]] std::int64_t documents() const { return documents_; }
    // The tokens after `first`, up to `last`, at which a document begins, rising, each once: a document without tokens
    // begins where the next one does. Reads about 2 log2(documents) numbers, whatever the size of the file.
    [[nodiscard]] Expected<std::vector<std::int64_t>> document_begins(std::int64_t first, std::int64_t last) const;

private:
    TokenIndex() = default;
    // The token at which document `i` begins; for documents() where the last one ends.
    [[nodiscard]] Expected<std::int64_t> document_begin(std::int64_t i) const;

    std::shared_ptr<const DataFile> file_;
    std::string where_;
    TokenBytes bytes_ = TokenBytes::two;
    std::int64_t sequences_ = 0, documents_ = 0;
};

// Writes an index of documents of one sequence each, from their lengths in tokens (`lengths`: a file of u32 each, as
// many as `documents`), and makes it durable.
Expected<void> write_token_index(
    const std::filesystem::path& file, TokenBytes bytes, const std::filesystem::path& lengths, std::int64_t documents);

} // namespace fourfold
