// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/start/questions.h"

#include "core/base/input_file.h"
#include "core/base/text.h"
#include "core/model/config_file.h"
#include "core/model/hub_cache.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace fourfold {

namespace {

struct Unit {
    const char* name;
    double tokens, days; // one of it; 0 = not of this kind
};
// A unit's plural, and "tokens" behind a power of ten, are understood as well.
constexpr Unit kUnits[]{{"", 1, 0}, {"token", 1, 0}, {"k", 1e3, 0}, {"thousand", 1e3, 0}, {"m", 1e6, 0},
    {"million", 1e6, 0}, {"b", 1e9, 0}, {"g", 1e9, 0}, {"billion", 1e9, 0}, {"t", 1e12, 0}, {"trillion", 1e12, 0},
    {"h", 0, 1.0 / 24}, {"hour", 0, 1.0 / 24}, {"d", 0, 1}, {"day", 0, 1}, {"week", 0, 7}, {"month", 0, 30}};

// "B tokens" -> "b", "Days" -> "day".
std::string plain_unit(std::string_view text)
{
    std::string unit = lower_case(trimmed(text));
    const auto drop = [&unit](std::string_view end) {
        if (unit.size() > end.size() && unit.ends_with(end))
            unit = std::string(trimmed(std::string_view(unit).substr(0, unit.size() - end.size())));
    };
    drop("s");
    drop("token");
    return unit;
}

// Lower case, one blank for everything that is neither a letter, a digit nor a point, one before and after.
std::string plain_words(const std::string& text)
{
    std::string out = " ";
    for (const char c : lower_case(text)) {
        const bool kept
            = static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
        if (kept || out.back() != ' ')
            out += kept ? c : ' ';
    }
    return out.back() == ' ' ? out : out + " ";
}

std::string name_of(const std::string& kind, const std::string& id, const Presets& presets)
{
    if (kind == "models") {
        const auto model = presets.model(id);
        return model ? model->name : "";
    }
    const auto cluster = presets.cluster(id);
    return cluster ? cluster->name : "";
}

// The one preset that is meant, or what else to say.
Expected<Json> preset_meant(const std::string& kind, const std::string& text, const Presets& presets)
{
    const std::vector<std::string> meant = presets_meant(kind, text, presets);
    if (meant.size() == 1)
        return Json(meant.front());
    const std::string one = kind.substr(0, kind.size() - 1);
    if (meant.size() > 1)
        return Problem{ProblemCode::bad_input, "may mean " + joined(meant, ", "), "name one of them", text};
    const auto near = nearest_words(text, presets.ids(kind), 3);
    const bool blank = trimmed(text).empty();
    return Problem{ProblemCode::not_found, "is no " + one + " that is known",
        near.empty() ? "`fourfold presets " + kind + "` lists them" : "did you mean " + joined(near, " or ") + "?",
        blank ? in_quotes(text) : printable(text)};
}

// Somebody who writes this means a file, not words of a name; one that is not there is said to be that.
bool is_path(const std::string& text)
{
    return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") || text.ends_with(".json");
}

} // namespace

Expected<TrainingExtent> parse_extent(const std::string& text, const std::string& where)
{
    const std::string_view written = trimmed(text);
    if (written.empty())
        return TrainingExtent{};
    double number = 0;
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), number);
    const std::string unit = plain_unit(written.substr(static_cast<std::size_t>(end - written.data())));
    const auto* known = std::find_if(
        std::begin(kUnits), std::end(kUnits), [&unit](const Unit& candidate) { return unit == candidate.name; });
    constexpr double kMost = 1e18;
    const bool tokens = known != std::end(kUnits) && known->tokens > 0;
    if (error != std::errc() || known == std::end(kUnits) || !(number > 0) || !(number * known->tokens <= kMost)
        || !(number * known->days <= kMost) || (tokens && number * known->tokens < 1))
        return Problem{ProblemCode::bad_input, "is no amount of training: " + in_quotes(text),
            "write tokens or a time, as in 15T, 300 B tokens or 30 days", where};
    return TrainingExtent{number * known->tokens, number * known->days};
}

std::string extent_text(const TrainingExtent& extent)
{
    if (extent.days > 0)
        return text_of("%.4g day%s", extent.days, extent.days == 1 ? "" : "s");
    if (extent.tokens >= 1e12)
        return text_of("%.4g T tokens", extent.tokens / 1e12);
    return extent.tokens > 0 ? text_of("%.4g B tokens", extent.tokens / 1e9) : "";
}

std::vector<std::string> presets_meant(const std::string& kind, const std::string& text, const Presets& presets)
{
    const std::vector<std::string> ids = presets.ids(kind);
    if (std::find(ids.begin(), ids.end(), text) != ids.end())
        return {text};
    std::vector<std::string> words;
    std::istringstream in(plain_words(text));
    for (std::string word; in >> word;)
        words.push_back(word);
    std::vector<std::string> found;
    for (const std::string& id : ids) {
        const std::string name = plain_words(name_of(kind, id, presets));
        if (!words.empty() && name == plain_words(text))
            return {id};
        const std::string all = plain_words(id) + name;
        if (!words.empty() && std::all_of(words.begin(), words.end(), [&all](const std::string& word) {
                return all.find(" " + word + " ") != std::string::npos;
            }))
            found.push_back(id);
    }
    return found;
}

Expected<std::filesystem::path> model_file(const std::string& text, const Presets& presets)
{
    const auto ids = presets.ids("models");
    std::error_code error;
    std::filesystem::path file = text;
    if (std::find(ids.begin(), ids.end(), text) != ids.end())
        return std::filesystem::path();
    if (std::filesystem::is_directory(file, error))
        file /= "config.json";
    if (!std::filesystem::exists(file, error) && is_hub_id(text)) {
        FOURFOLD_TRY(file, cached_config(text, hub_cache_folder()));
    }
    if (!std::filesystem::exists(file, error) && !is_path(text))
        return std::filesystem::path();
    return file;
}

Expected<Json> model_named(const std::string& text, const Presets& presets)
{
    FOURFOLD_TRY(const std::filesystem::path file, model_file(text, presets));
    if (file.empty())
        return preset_meant("models", text, presets);
    // A pipe that is named is waited for; one that lies in a folder is none that somebody will write into.
    FOURFOLD_TRY(Json config, read_config_file(file, file == text));
    FOURFOLD_TRY([[maybe_unused]] const ModelShape shape, model_from_config(config, file.string()));
    return config;
}

Expected<Json> cluster_named(const std::string& text, const Presets& presets)
{
    return preset_meant("clusters", text, presets);
}

} // namespace fourfold
