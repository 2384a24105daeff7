// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pack/journal.h"

#include "core/base/json_fields.h"

namespace fourfold {

namespace {
constexpr int kVersion = 1;
constexpr std::int64_t kMost = std::int64_t(1) << 60;
} // namespace

Json PackJournal::json() const
{
    Json files = Json::array();
    for (const InputFileState& input : inputs)
        files.push_back({{"path", input.path.string()}, {"bytes", input.bytes}, {"modified_ns", input.modified_ns}});
    return {{"fourfold_pack", kVersion}, {"tokenizer_sha256", tokenizer_sha256}, {"inputs", files},
        {"key", documents.key}, {"unit", int(documents.unit)}, {"ill_formed", int(documents.ill_formed)},
        {"ends", ends}, {"file", position.file}, {"byte", position.byte}, {"line", position.line}, {"documents", count},
        {"left_out", left_out}, {"tokens", tokens}, {"bytes", bytes}};
}

Expected<PackJournal> PackJournal::read(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const Json json, read_json_file(file));
    FOURFOLD_TRY(const Fields fields, Fields::of(json, file.string()));
    FOURFOLD_TRY(const int version, fields.small_integer("fourfold_pack"));
    if (version != kVersion)
        return fields.wrong("fourfold_pack", std::to_string(kVersion));
    PackJournal journal;
    FOURFOLD_TRY(journal.tokenizer_sha256, fields.text("tokenizer_sha256"));
    FOURFOLD_TRY(journal.documents.key, fields.text("key"));
    FOURFOLD_TRY(const int unit, fields.small_integer("unit", 0, int(DocumentUnit::line)));
    journal.documents.unit = DocumentUnit(unit);
    FOURFOLD_TRY(const int ill_formed, fields.small_integer("ill_formed", 0, int(IllFormed::skip)));
    journal.documents.ill_formed = IllFormed(ill_formed);
    FOURFOLD_TRY(journal.ends, fields.text("ends"));
    if (!fields.has("inputs") || !fields.json()["inputs"].is_array())
        return fields.missing("inputs", "an array of files");
    for (const Json& entry : fields.json()["inputs"]) {
        FOURFOLD_TRY(const Fields input, Fields::of(entry, fields.where("inputs")));
        InputFileState state;
        FOURFOLD_TRY(state.path, input.text("path"));
        FOURFOLD_TRY(state.bytes, input.integer("bytes", 0, kMost));
        FOURFOLD_TRY(state.modified_ns, input.integer("modified_ns", -kMost * 2, kMost * 4));
        journal.inputs.push_back(std::move(state));
    }
    for (const auto& [key, member] : {std::pair{"file", &journal.position.file}, {"byte", &journal.position.byte},
             {"line", &journal.position.line}, {"documents", &journal.count}, {"left_out", &journal.left_out},
             {"tokens", &journal.tokens}, {"bytes", &journal.bytes}}) {
        FOURFOLD_TRY(*member, fields.integer(key, 0, kMost));
    }
    if (journal.position.file > std::int64_t(journal.inputs.size()))
        return fields.wrong("file", "one of the inputs");
    const auto file_bytes = [&](std::int64_t i) {
        return i < std::int64_t(journal.inputs.size()) ? journal.inputs[std::size_t(i)].bytes : 0;
    };
    if (journal.position.byte > file_bytes(journal.position.file))
        return fields.wrong("byte", "a place in that input");
    return journal;
}

std::string PackJournal::difference(const PackJournal& begun) const
{
    if (tokenizer_sha256 != begun.tokenizer_sha256)
        return "another tokenizer";
    if (documents.key != begun.documents.key || documents.unit != begun.documents.unit || ends != begun.ends)
        return "other options";
    if (inputs.size() != begun.inputs.size())
        return std::to_string(begun.inputs.size()) + " files instead of " + std::to_string(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].path != begun.inputs[i].path)
            return begun.inputs[i].path.string();
        // A file whose turn has not come may have been mended.
        const auto file = std::int64_t(i);
        const bool read = file < begun.position.file || (file == begun.position.file && begun.position.byte > 0);
        if (read && inputs[i] != begun.inputs[i])
            return "a " + inputs[i].path.string() + " that has changed since";
    }
    return "";
}

} // namespace fourfold
