// SPDX-License-Identifier: GPL-3.0-or-later
// The documents of text and JSONL files, one after the other, from any place on.
#pragma once

#include "core/base/data_file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace fourfold {

// What is one document of a text file; of JSONL it is always a line.
enum class DocumentUnit { file, paragraph, line };
// What becomes of bytes that are not UTF-8.
enum class IllFormed { refuse, replace, skip };

struct DocumentOptions {
    std::string key = "text"; // the text of a line of JSONL
    DocumentUnit unit = DocumentUnit::file;
    IllFormed ill_formed = IllFormed::refuse;
};

// A file as it was when the packing began.
struct InputFileState {
    std::filesystem::path path;
    std::int64_t bytes = 0, modified_ns = 0;
    [[nodiscard]] bool is_jsonl() const { return path.extension() == ".jsonl" || path.extension() == ".json"; }
    friend bool operator==(const InputFileState&, const InputFileState&) = default;
};
struct InputFiles {
    std::vector<InputFileState> files;
    std::vector<std::string> warnings; // what of a folder may have been meant, and is left out
};
// Files as they are; of a folder all .txt, .text, .md, .jsonl and .json files below it and below what its links lead
// to, by name. Fails where one is missing, a folder cannot be listed, or nothing is left.
Expected<InputFiles> list_inputs(const std::vector<std::string>& names);

// Between two documents.
struct InputPosition {
    std::int64_t file = 0, byte = 0, line = 0; // files and lines that are behind it
};

class DocumentReader {
public:
    DocumentReader(std::vector<InputFileState> files, DocumentOptions options, InputPosition from)
        : files_(std::move(files))
        , options_(std::move(options))
        , position_(from)
    {
    }
    // The next document; false at the end of the last file. Problems name file and line.
    Expected<bool> next(std::string& document);
    [[nodiscard]] const InputPosition& position() const { return position_; }
    // Of documents that were left out since the reader was made.
    [[nodiscard]] std::int64_t skipped() const { return skipped_; }
    // What one should know of files that are done: "FILE grew while it was packed ...", "FILE holds NUL characters
    // ...".
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
    Expected<bool> next_raw(std::string& document);
    Expected<bool> next_line(std::string& line);
    Expected<void> text_of_line(const std::string& line, std::string& document) const;
    Expected<bool> make_utf8(std::string& document);
    Expected<void> open_file();
    void close_file();
    [[nodiscard]] std::string place() const;

    std::vector<InputFileState> files_;
    DocumentOptions options_;
    InputPosition position_;
    std::shared_ptr<const DataFile> file_; // files_[position_.file]
    std::string buffer_; // what was read ahead of position_.byte
    std::size_t used_ = 0; // of the buffer
    std::int64_t skipped_ = 0;
    bool holds_nul_ = false; // a document of this file
    std::vector<std::string> warnings_;
};

} // namespace fourfold
