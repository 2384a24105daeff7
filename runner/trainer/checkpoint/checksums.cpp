// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/checksums.h"

#include "core/base/data_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>

namespace fourfold::trainer {

namespace {
constexpr int kVersion = 1;
constexpr char kAlgorithm[] = "xxh3-64";
constexpr std::size_t kBlockBytes = 4u << 20; // read at once

std::string hexadecimal(uint64_t value)
{
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

std::string sum_of(const std::string& text)
{
    return hexadecimal(XXH3_64bits(text.data(), text.size()));
}

Problem damaged(const std::string& what, const std::filesystem::path& file)
{
    return {ProblemCode::bad_input, "damaged: " + what, "", file.string()};
}
} // namespace

Json to_json(const FileSums& sums)
{
    return {{"bytes", sums.bytes}, {"pieces", sums.pieces}};
}

Expected<FileSums> file_sums_from_json(const Json& json, const std::string& where)
{
    try {
        FileSums sums{json.at("bytes").get<int64_t>(), json.at("pieces").get<std::vector<std::string>>()};
        if (sums.bytes >= 0 && int64_t(sums.pieces.size()) == (sums.bytes + kPieceBytes - 1) / kPieceBytes)
            return sums;
    } catch (const Json::exception&) {
    }
    return Problem{ProblemCode::bad_input, "expected the size of a file and a checksum of each piece", "", where};
}

struct Summer::State {
    XXH3_state_t hash;
};

Summer::Summer()
    : state_(new State)
{
    XXH3_64bits_reset(&state_->hash);
}
Summer::~Summer() = default;

void Summer::append(const void* bytes, std::size_t count)
{
    const char* next = static_cast<const char*>(bytes);
    while (count > 0) {
        const auto now = std::min(count, std::size_t(kPieceBytes - in_piece_));
        XXH3_64bits_update(&state_->hash, next, now);
        next += now;
        count -= now;
        in_piece_ += int64_t(now);
        sums_.bytes += int64_t(now);
        if (in_piece_ == kPieceBytes)
            end_piece();
    }
}

void Summer::end_piece()
{
    sums_.pieces.push_back(hexadecimal(XXH3_64bits_digest(&state_->hash)));
    XXH3_64bits_reset(&state_->hash);
    in_piece_ = 0;
}

FileSums Summer::finish()
{
    if (in_piece_ > 0)
        end_piece();
    return sums_;
}

FileSums sums_of_text(std::string_view text)
{
    Summer summer;
    summer.append(text.data(), text.size());
    return summer.finish();
}

Expected<Checksums> Checksums::read(const std::filesystem::path& folder)
{
    const std::filesystem::path file = folder / kChecksumFile;
    FOURFOLD_TRY(const auto input, DataFile::open(file));
    std::string text(std::size_t(input->size()), '\0');
    FOURFOLD_CHECK(input->read(0, text.size(), text.data()));
    auto json = parse_json(text, file.string());
    if (!json || !json->is_object())
        return damaged("it is no JSON object", file);
    // Not under the checksum, so that a later version can say so.
    if (const auto version = json->find("fourfold_checksums");
        version != json->end() && version->is_number_integer() && version->get<int64_t>() > kVersion)
        return Problem{ProblemCode::unsupported, "written by a newer Fourfold", "load it with that one", file.string()};
    const Json sum = json->value("checksum", Json());
    json->erase("checksum");
    if (!sum.is_string() || sum.get<std::string>() != sum_of(json->dump()))
        return damaged("it does not match its own checksum", file);
    Files files;
    try {
        for (const auto& [name, entry] : json->at("files").items()) {
            FOURFOLD_TRY(files[name], file_sums_from_json(entry, file.string() + " \"" + name + "\""));
        }
    } catch (const Json::exception&) {
        return damaged("it lists no files", file);
    }
    return Checksums(std::move(files));
}

Expected<void> Checksums::write(const std::filesystem::path& folder) const
{
    Json json{{"fourfold_checksums", kVersion}, {"algorithm", kAlgorithm}, {"piece_bytes", kPieceBytes},
        {"files", Json::object()}};
    for (const auto& [name, sums] : files_)
        json["files"][name] = to_json(sums);
    json["checksum"] = sum_of(json.dump());
    return write_file_atomically(folder / kChecksumFile, json.dump(1) + "\n");
}

Expected<void> Checksums::check(const std::filesystem::path& folder, int part, int parts) const
{
    int64_t counted = 0;
    std::vector<char> block;
    for (const auto& [name, sums] : files_) {
        const std::filesystem::path file = folder / name;
        FOURFOLD_TRY(const auto input, DataFile::open(file));
        if (input->size() != sums.bytes)
            return damaged(
                "it has " + std::to_string(input->size()) + " bytes, " + std::to_string(sums.bytes) + " were written",
                file);
        for (std::size_t piece = 0; piece < sums.pieces.size(); ++piece) {
            if (counted++ % parts != part)
                continue;
            const int64_t begin = int64_t(piece) * kPieceBytes, end = std::min(begin + kPieceBytes, sums.bytes);
            Summer summer;
            for (int64_t at = begin; at < end; at += int64_t(block.size())) {
                block.resize(std::size_t(std::min(int64_t(kBlockBytes), end - at)));
                FOURFOLD_CHECK(input->read(at, block.size(), block.data()));
                summer.append(block.data(), block.size());
            }
            if (summer.finish().pieces.front() != sums.pieces[piece])
                return damaged("its bytes " + std::to_string(begin) + " to " + std::to_string(end)
                        + " are not those that were written",
                    file);
        }
    }
    return {};
}

} // namespace fourfold::trainer
