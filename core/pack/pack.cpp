// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pack/pack.h"

#include "core/base/input_file.h"
#include "core/base/json_fields.h"
#include "core/base/parallel.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/dataset/appended_file.h"
#include "core/dataset/token_index.h"
#include "core/pack/journal.h"
#include "core/tokenizer/end_token.h"
#include "core/tokenizer/tokenizer_json.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include <fcntl.h>

namespace fourfold {

namespace {
namespace fs = std::filesystem;

// What goes around every document.
struct Ends {
    std::vector<std::uint32_t> before, behind;

    static Expected<Ends> of(const PackRequest& request, const Tokenizer& tokenizer)
    {
        Ends ends;
        if (request.apply_template)
            ends = {tokenizer.before(), tokenizer.behind()};
        std::string name;
        if (request.end_token) {
            name = *request.end_token;
        } else {
            FOURFOLD_TRY(const auto usual, usual_end_token(request.tokenizer, tokenizer));
            if (!usual)
                return Problem{ProblemCode::bad_input, "does not say which token ends a text",
                    "name one with --eos, or --eos '' for none", request.tokenizer.string()};
            name = *usual;
        }
        if (name.empty())
            return ends;
        const auto id = tokenizer.id_of(name);
        if (!id)
            return Problem{ProblemCode::bad_input, "has no token " + in_quotes(name), "name another with --eos",
                request.tokenizer.string()};
        if (ends.behind.empty() || ends.behind.back() != *id)
            ends.behind.push_back(*id);
        return ends;
    }
    [[nodiscard]] std::string text() const
    {
        std::string text;
        for (const auto* side : {&before, &behind}) {
            for (const std::uint32_t id : *side)
                text += std::to_string(id) + " ";
            text += "|";
        }
        return text;
    }
};

// Documents in the order of the inputs, about as many bytes in each batch, and what became of them.
struct Batch {
    std::vector<std::string> documents;
    std::string tokens; // little-endian
    std::string lengths; // u32 per document
    std::int64_t token_count = 0;
    std::optional<Problem> problem;
};

class Packing {
public:
    Packing(const PackRequest& request, std::shared_ptr<const Tokenizer> tokenizer, Ends ends, PackJournal journal)
        : tokenizer_(std::move(tokenizer))
        , ends_(std::move(ends))
        , journal_(std::move(journal))
        , output_(request.output.extension() == ".bin" || request.output.extension() == ".idx"
                  ? fs::path(request.output).replace_extension()
                  : request.output)
        , folder_(output_.string() + ".partial")
        , threads_(thread_count(request.threads, kMostThreads))
    {
        constexpr std::uint32_t kMostTwoBytes = 1U << 16;
        bytes_ = tokenizer_->vocabulary_size() <= kMostTwoBytes ? TokenBytes::two : TokenBytes::four;
        for (std::size_t i = 0; i < threads_; ++i)
            encoders_.push_back(std::make_unique<Encoder>(tokenizer_));
        for (const InputFileState& input : journal_.inputs)
            total_bytes_ += input.bytes;
    }

    Expected<PackResult> run(const std::function<void(const PackProgress&)>& progress, const std::stop_token& stop)
    {
        auto result = work(progress, stop);
        std::error_code error;
        // What nothing can go on from is no use to anybody. Without the lock it may be another program's.
        if (!result && begun_ && !fs::exists(journal_file(), error))
            locked_ ? fs::remove_all(folder_, error) : fs::remove(folder_, error);
        return result;
    }

private:
    Expected<PackResult> work(const std::function<void(const PackProgress&)>& progress, const std::stop_token& stop)
    {
        FOURFOLD_CHECK(take_up());
        if (published())
            return result(total_bytes_, {});
        FOURFOLD_TRY(
            AppendedFile tokens, AppendedFile::open(folder_ / "tokens.bin", journal_.tokens * std::int64_t(bytes_)));
        locked_ = true;
        FOURFOLD_TRY(AppendedFile lengths,
            AppendedFile::open(folder_ / "lengths", journal_.count * std::int64_t(sizeof(std::uint32_t))));
        const std::int64_t resumed = done_bytes();
        DocumentReader reader(journal_.inputs, journal_.documents, journal_.position);
        const std::int64_t left_out_before = journal_.left_out;
        std::vector<Batch> batches(threads_ * kBatchesPerThread);
        auto written = std::chrono::steady_clock::now();
        for (bool more = true; more;) {
            std::optional<Problem> trouble;
            const std::size_t filled = fill(reader, batches, more, trouble);
            parallel_for(filled, threads_, {}, [&](std::size_t thread, std::size_t i) { encode(batches[i], thread); });
            for (std::size_t i = 0; i < filled; ++i) {
                if (batches[i].problem)
                    return *batches[i].problem;
                FOURFOLD_CHECK(tokens.append(batches[i].tokens));
                FOURFOLD_CHECK(lengths.append(batches[i].lengths));
                journal_.tokens += batches[i].token_count;
                journal_.count += std::int64_t(batches[i].documents.size());
            }
            if (!trouble) {
                journal_.position = reader.position();
                journal_.left_out = left_out_before + reader.skipped();
            }
            progress({done_bytes(), total_bytes_, journal_.tokens});
            const auto now = std::chrono::steady_clock::now();
            // Where a document cannot be used, everything before this round stands in the journal already.
            if (!trouble && (!more || stop.stop_requested() || now - written > kBetweenSyncs)) {
                FOURFOLD_CHECK(tokens.sync());
                FOURFOLD_CHECK(lengths.sync());
                FOURFOLD_CHECK(write_journal());
                written = now;
            }
            if (trouble)
                return *trouble;
            if (more && stop.stop_requested())
                return Problem{
                    ProblemCode::cancelled, "stopped", "the same command goes on from here", output_.string()};
        }
        FOURFOLD_CHECK(write_token_index(folder_ / "tokens.idx", bytes_, folder_ / "lengths", journal_.count));
        FOURFOLD_CHECK(publish());
        return result(resumed, reader.warnings());
    }

    static constexpr std::size_t kBatchesPerThread = 4, kMostThreads = 1024;
    static constexpr std::size_t kBatchBytes = std::size_t(512) << 10;
    static constexpr std::chrono::seconds kBetweenSyncs{5};

    [[nodiscard]] fs::path tokens_file() const { return output_.string() + ".bin"; }
    [[nodiscard]] fs::path journal_file() const { return folder_ / "journal.json"; }
    [[nodiscard]] fs::path index_file() const { return output_.string() + ".idx"; }

    [[nodiscard]] std::int64_t done_bytes() const
    {
        std::int64_t bytes = journal_.position.byte;
        for (std::int64_t file = 0; file < journal_.position.file; ++file)
            bytes += journal_.inputs[std::size_t(file)].bytes;
        return bytes;
    }

    Expected<void> write_journal() const
    {
        return write_file_atomically(journal_file(), journal_.json().dump(2) + "\n");
    }

    // Where an earlier call stopped, or the beginning.
    Expected<void> take_up()
    {
        std::error_code error;
        if (fs::exists(journal_file(), error)) {
            FOURFOLD_TRY(const PackJournal earlier, PackJournal::read(journal_file()));
            if (fs::exists(folder_ / "tokens.bin", error)) // else it has its name already
                FOURFOLD_CHECK(check_free(tokens_file()));
            if (const std::string difference = journal_.difference(earlier); !difference.empty())
                return Problem{ProblemCode::conflict, "holds the begun packing of " + difference,
                    "remove the folder to begin anew, or choose another --output", folder_.string()};
            journal_.position = earlier.position;
            journal_.count = earlier.count;
            journal_.left_out = earlier.left_out;
            journal_.tokens = earlier.tokens;
            journal_.bytes = earlier.bytes;
            return {};
        }
        for (const fs::path& file : {tokens_file(), index_file()})
            FOURFOLD_CHECK(check_free(file));
        FOURFOLD_CHECK(check_folder());
        FOURFOLD_CHECK(make_folders(folder_));
        begun_ = true;
        return {};
    }

    // Also of a link that leads nowhere yet.
    static Expected<void> check_free(const fs::path& file)
    {
        std::error_code error;
        if (!fs::exists(fs::symlink_status(file, error)))
            return {};
        return Problem{
            ProblemCode::bad_input, "is there already", "remove it, or choose another --output", file.string()};
    }

    // The folder goes at the end, so nothing but a packing's own files may lie in it.
    [[nodiscard]] Expected<void> check_folder() const
    {
        std::error_code error;
        bool own = !fs::is_symlink(fs::symlink_status(folder_, error));
        for (fs::directory_iterator entry(folder_, error), end; own && !error && entry != end; entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            own = name == "tokens.bin" || name == "tokens.idx" || name == "lengths" || name.starts_with("journal.json");
        }
        return own ? Expected<void>()
                   : Problem{ProblemCode::conflict, "holds something else than a packing that was begun",
                       "move it away, or choose another --output", folder_.string()};
    }

    // Fills batches from the first on; `more` false at the end of the inputs. What stands before a document in trouble
    // is in.
    std::size_t fill(DocumentReader& reader, std::vector<Batch>& batches, bool& more, std::optional<Problem>& trouble)
    {
        std::size_t filled = 0;
        for (; filled < batches.size() && more && !trouble; ++filled) {
            Batch& batch = batches[filled];
            batch = {};
            for (std::size_t bytes = 0; bytes < kBatchBytes;) {
                std::string document;
                const auto any = reader.next(document);
                if (!any)
                    trouble = any.error();
                more = any && *any;
                if (!more)
                    break;
                bytes += document.size();
                journal_.bytes += std::int64_t(document.size());
                batch.documents.push_back(std::move(document));
            }
        }
        return filled;
    }

    void encode(Batch& batch, std::size_t thread) const
    {
        std::vector<std::uint32_t> ids;
        for (const std::string& document : batch.documents) {
            ids = ends_.before;
            if (const auto encoded = encoders_[thread]->encode(document, ids); !encoded) {
                batch.problem = encoded.error();
                return;
            }
            ids.insert(ids.end(), ends_.behind.begin(), ends_.behind.end());
            const auto length = static_cast<std::uint32_t>(ids.size());
            batch.lengths.append(reinterpret_cast<const char*>(&length), sizeof length);
            batch.token_count += length;
            for (const std::uint32_t id : ids)
                batch.tokens.append(reinterpret_cast<const char*>(&id), std::size_t(bytes_)); // little-endian
        }
    }

    // A call that was cut after it had put everything in its place: its folder goes.
    [[nodiscard]] bool published() const
    {
        std::error_code error;
        if (fs::exists(folder_ / "tokens.bin", error)
            || fs::file_size(tokens_file(), error) != std::uintmax_t(journal_.tokens * std::int64_t(bytes_)) || error)
            return false;
        fs::remove_all(folder_, error);
        return true;
    }

    // Under their names, the index first: a .bin without .idx is a token file, the other way round nothing. What
    // somebody has put there meanwhile stays, and what was packed too.
    Expected<void> publish() const
    {
        std::error_code error;
        FOURFOLD_CHECK(check_free(tokens_file()));
        if (is_same_file(folder_ / "tokens.idx", index_file())) // of a call that was cut here
            fs::remove(folder_ / "tokens.idx", error);
        else
            FOURFOLD_CHECK(put(folder_ / "tokens.idx", index_file()));
        if (const auto placed = put(folder_ / "tokens.bin", tokens_file()); !placed) {
            fs::rename(index_file(), folder_ / "tokens.idx", error);
            return placed;
        }
        fs::remove_all(folder_, error);
        return {};
    }

    static bool is_same_file(const fs::path& one, const fs::path& other)
    {
        const auto first = sha256_file(one), second = sha256_file(other);
        return first && second && *first == *second;
    }

    static Expected<void> put(const fs::path& from, const fs::path& to)
    {
        if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
            return {};
        std::error_code error(errno, std::generic_category());
        FOURFOLD_CHECK(check_free(to));
        if (error == std::errc::invalid_argument || error == std::errc::function_not_supported) // of the file system
            fs::rename(from, to, error);
        if (error)
            return Problem{ProblemCode::io, "cannot be put in its place: " + error.message(), "", to.string()};
        return {};
    }

    [[nodiscard]] PackResult result(std::int64_t resumed, std::vector<std::string> warnings) const
    {
        PackResult result;
        result.documents = journal_.count;
        result.left_out = journal_.left_out;
        result.tokens = journal_.tokens;
        result.bytes = journal_.bytes;
        result.resumed_bytes = resumed;
        result.vocabulary = tokenizer_->vocabulary_size();
        result.token_bytes = int(bytes_);
        result.tokens_file = tokens_file();
        result.index_file = index_file();
        result.warnings = std::move(warnings);
        return result;
    }

    std::shared_ptr<const Tokenizer> tokenizer_;
    Ends ends_;
    PackJournal journal_;
    fs::path output_, folder_;
    std::size_t threads_;
    TokenBytes bytes_ = TokenBytes::two;
    std::vector<std::unique_ptr<Encoder>> encoders_; // one per thread
    std::int64_t total_bytes_ = 0;
    bool begun_ = false; // nothing to go on from was found
    bool locked_ = false; // what lies in the folder is this call's
};
} // namespace

Expected<PackResult> pack(
    const PackRequest& request, const std::function<void(const PackProgress&)>& progress, const std::stop_token& stop)
{
    constexpr std::size_t kMostTokenizer = std::size_t(256) << 20;
    if (const fs::path name = request.output.filename(); name.empty() || name == "." || name == "..")
        return Problem{
            ProblemCode::bad_input, "expected the name of a file", "OUTPUT.bin and OUTPUT.idx are written", "--output"};
    FOURFOLD_TRY(const std::string text, read_text_file(request.tokenizer, kMostTokenizer));
    FOURFOLD_TRY(const Json json, tokenizer_json(text, request.tokenizer.string()));
    FOURFOLD_TRY(const auto tokenizer, Tokenizer::of_json(json, request.tokenizer.string()));
    FOURFOLD_TRY(Ends ends, Ends::of(request, *tokenizer));
    PackJournal journal;
    journal.tokenizer_sha256 = sha256_hex(text);
    FOURFOLD_TRY(InputFiles inputs, list_inputs(request.inputs));
    journal.inputs = std::move(inputs.files);
    journal.documents = request.documents;
    journal.ends = ends.text();
    FOURFOLD_TRY(
        PackResult result, Packing(request, tokenizer, std::move(ends), std::move(journal)).run(progress, stop));
    result.warnings.insert(result.warnings.begin(), inputs.warnings.begin(), inputs.warnings.end());
    if (result.tokens == 0)
        result.warnings.push_back(printable(result.tokens_file.string(), kUncut)
            + " holds no token: there is no text in what was to be packed");
    return result;
}

} // namespace fourfold
