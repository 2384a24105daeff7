// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pack/documents.h"

#include "core/base/file_kind.h"
#include "core/base/json.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace fourfold {

namespace {
namespace fs = std::filesystem;

constexpr std::int64_t kMostDocument = std::int64_t(1) << 30; // bytes
constexpr std::size_t kReadAhead = std::size_t(4) << 20;

Expected<InputFileState> state_of(const fs::path& path)
{
    struct stat now { };
    if (::stat(path.c_str(), &now) != 0)
        return Problem{ProblemCode::not_found, "there is no such file", "", path.string()};
    constexpr std::int64_t kSecond = 1'000'000'000;
    return InputFileState{path, now.st_size, now.st_mtim.tv_sec * kSecond + now.st_mtim.tv_nsec};
}

bool is_text(const fs::path& path)
{
    constexpr std::array kEnds{".txt", ".text", ".md", ".jsonl", ".json"};
    return std::find(kEnds.begin(), kEnds.end(), path.extension()) != kEnds.end();
}

// As text comes that is not text yet.
bool is_packed(const fs::path& path)
{
    constexpr std::array kEnds{".gz", ".zst", ".bz2", ".xz", ".lz4", ".zip", ".parquet", ".arrow", ".pdf", ".docx",
        ".odt", ".epub", ".html", ".htm", ".csv", ".tsv"};
    return std::find(kEnds.begin(), kEnds.end(), path.extension()) != kEnds.end();
}

// What a call that was cut has left of its own packing.
bool is_of_pack(const fs::path& folder)
{
    std::error_code error;
    return folder.extension() == ".partial"
        && (fs::exists(folder / "journal.json", error) || fs::exists(folder / "tokens.bin", error));
}

// The files below a folder, and below what its links lead to: each folder once.
struct FolderOfText {
    std::vector<fs::path> texts, packed;
    std::set<fs::path> known;

    Expected<void> add(const fs::path& folder)
    {
        std::error_code error;
        const auto unusable = [&] {
            return Problem{ProblemCode::io, "cannot be listed: " + error.message(), "", folder.string()};
        };
        const fs::path real = fs::canonical(folder, error);
        if (error)
            return unusable();
        if (!known.insert(real).second)
            return {};
        for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
            std::error_code gone; // of a link that leads nowhere
            const fs::path& path = entry->path();
            if (entry->is_directory(gone) && !is_of_pack(path))
                FOURFOLD_CHECK(add(path));
            else if (entry->is_regular_file(gone) && (is_text(path) || is_packed(path)))
                (is_text(path) ? texts : packed).push_back(path);
        }
        return error ? Expected<void>(unusable()) : Expected<void>();
    }
};

// Every maximal part that is not UTF-8 becomes U+FFFD, byte by byte.
std::string replaced(std::string_view text)
{
    constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
    std::string out;
    while (!text.empty()) {
        std::size_t length = 1;
        while (length < 4 && length < text.size() && !is_utf8(text.substr(0, length)))
            ++length;
        if (is_utf8(text.substr(0, length))) {
            out += text.substr(0, length);
        } else {
            out += kReplacement;
            length = 1;
        }
        text.remove_prefix(length);
    }
    return out;
}
} // namespace

Expected<InputFiles> list_inputs(const std::vector<std::string>& names)
{
    InputFiles found;
    for (const std::string& name : names) {
        std::error_code error;
        if (!fs::is_directory(name, error)) {
            FOURFOLD_TRY(InputFileState file, state_of(name));
            found.files.push_back(std::move(file));
            continue;
        }
        FolderOfText folder;
        FOURFOLD_CHECK(folder.add(name));
        if (folder.texts.empty())
            return Problem{ProblemCode::not_found, "holds no .txt, .md, .jsonl or .json file", "", name};
        std::sort(folder.texts.begin(), folder.texts.end());
        for (const fs::path& path : folder.texts) {
            FOURFOLD_TRY(InputFileState file, state_of(path));
            found.files.push_back(std::move(file));
        }
        if (!folder.packed.empty())
            found.warnings.push_back(folder.packed.front().string()
                + (folder.packed.size() > 1 ? " and " + std::to_string(folder.packed.size() - 1) + " more" : "")
                + " of " + name + " are left out: unpack or convert to text what is to be trained on");
    }
    return found;
}

std::string DocumentReader::place() const
{
    const std::string file = files_[std::size_t(position_.file)].path.string();
    return position_.line == 0 ? file : file + ":" + std::to_string(position_.line);
}

Expected<void> DocumentReader::open_file()
{
    if (file_)
        return {};
    FOURFOLD_TRY(file_, DataFile::open(files_[std::size_t(position_.file)].path));
    buffer_.clear();
    used_ = 0;
    return {};
}

void DocumentReader::close_file()
{
    const InputFileState& was = files_[std::size_t(position_.file)];
    if (const auto now = state_of(was.path); now && now->bytes > was.bytes)
        warnings_.push_back(was.path.string() + " grew from " + std::to_string(was.bytes) + " to "
            + std::to_string(now->bytes) + " bytes while it was packed: what came last is not in");
    if (std::exchange(holds_nul_, false))
        warnings_.push_back(was.path.string()
            + " holds NUL characters, as UTF-16 and binary files do: they are packed as if they were text");
    file_.reset();
    position_ = {position_.file + 1, 0, 0};
}

Expected<bool> DocumentReader::next_line(std::string& line)
{
    line.clear();
    const std::int64_t size = files_[std::size_t(position_.file)].bytes;
    for (;;) {
        const std::size_t end = buffer_.find('\n', used_);
        const std::size_t taken = end == std::string::npos ? buffer_.size() - used_ : end + 1 - used_;
        line.append(buffer_, used_, taken);
        used_ += taken;
        position_.byte += std::int64_t(taken);
        if (std::int64_t(line.size()) > kMostDocument) {
            ++position_.line;
            return Problem{ProblemCode::bad_input, "a line of more than 1 GiB", "", place()};
        }
        if (end != std::string::npos || position_.byte >= size)
            break;
        buffer_.resize(std::size_t(std::min<std::int64_t>(kReadAhead, size - position_.byte)));
        used_ = 0;
        FOURFOLD_CHECK(file_->read(position_.byte, buffer_.size(), buffer_.data()));
    }
    if (line.empty())
        return false;
    ++position_.line;
    return true;
}

Expected<void> DocumentReader::text_of_line(const std::string& line, std::string& document) const
{
    if (trimmed(line, " \t\r\n").empty()) {
        document.clear();
        return {};
    }
    FOURFOLD_TRY(const Json json, parse_json(line, place()));
    const auto text = json.is_object() ? json.find(options_.key) : json.end();
    if (text == json.end() || !text->is_string())
        return Problem{ProblemCode::bad_input, "expected an object with a string as its " + in_quotes(options_.key),
            "another key is named with --key", place()};
    document = text->get<std::string>();
    return {};
}

// False at the end of the file.
Expected<bool> DocumentReader::next_raw(std::string& document)
{
    const InputFileState& input = files_[std::size_t(position_.file)];
    std::string line;
    document.clear();
    if (input.is_jsonl()) {
        FOURFOLD_TRY(const bool any, next_line(line));
        FOURFOLD_TRY(const bool kept, make_utf8(line));
        if (any && kept)
            FOURFOLD_CHECK(text_of_line(line, document));
        return any;
    }
    if (options_.unit == DocumentUnit::file) {
        if (position_.byte >= input.bytes)
            return false;
        if (input.bytes > kMostDocument)
            return Problem{ProblemCode::bad_input, "is larger than 1 GiB, too large for one document",
                "make documents of its paragraphs or lines with --documents", input.path.string()};
        document.resize(std::size_t(input.bytes));
        FOURFOLD_CHECK(file_->read(0, document.size(), document.data()));
        position_.byte = input.bytes;
        return true;
    }
    for (;;) {
        FOURFOLD_TRY(const bool any, next_line(line));
        if (!any)
            return !document.empty();
        const bool blank = trimmed(line, " \t\r\n").empty();
        if (options_.unit == DocumentUnit::line) {
            document = trimmed(line, "\r\n");
            return true;
        }
        if (blank && !document.empty())
            return true;
        if (!blank)
            document += line;
        if (std::int64_t(document.size()) > kMostDocument)
            return Problem{ProblemCode::bad_input, "a paragraph of more than 1 GiB", "", place()};
    }
}

// False: the document is left out.
Expected<bool> DocumentReader::make_utf8(std::string& document)
{
    if (is_utf8(document))
        return true;
    const std::string_view kind = other_kind_of(document); // as a file of text begins with neither
    if (options_.ill_formed == IllFormed::refuse && !kind.empty())
        return Problem{ProblemCode::bad_input, "is " + std::string(kind) + ", expected text in UTF-8",
            "unpack or save it so", place()};
    if (options_.ill_formed == IllFormed::refuse)
        return Problem{
            ProblemCode::bad_input, "is not UTF-8", "convert it, or use --invalid replace or --invalid skip", place()};
    if (options_.ill_formed == IllFormed::skip)
        return false;
    document = replaced(document);
    return true;
}

Expected<bool> DocumentReader::next(std::string& document)
{
    while (position_.file < std::int64_t(files_.size())) {
        FOURFOLD_CHECK(open_file());
        const bool begins = position_.byte == 0;
        FOURFOLD_TRY(const bool any, next_raw(document));
        if (!any) {
            close_file();
            continue;
        }
        constexpr std::string_view kMark = "\xEF\xBB\xBF"; // of UTF-8, no part of the text
        if (begins && document.starts_with(kMark))
            document.erase(0, kMark.size());
        FOURFOLD_TRY(const bool kept, make_utf8(document));
        holds_nul_ = holds_nul_ || (kept && document.find('\0') != std::string::npos);
        if (kept && !document.empty())
            return true;
        ++skipped_;
    }
    return false;
}

} // namespace fourfold
