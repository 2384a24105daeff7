// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/data_files.h"

#include "core/base/text.h"
#include "core/dataset/token_layout.h"
#include "core/plan/fields.h"
#include "core/plan/named_file.h"

#include <algorithm>

namespace fourfold::view {

namespace {
std::string name_of(const Json& file)
{
    const Json& path = value_at(file, "path");
    return path.is_string() ? path.get<std::string>() : "";
}

// In one line a comma ends a name, and blanks at its ends are not seen.
bool is_plain(const std::string& name)
{
    return !name.empty() && name.find(',') == std::string::npos && name.front() != '[' && trimmed(name) == name;
}
} // namespace

std::string data_text(const Json& files)
{
    if (!files.is_array())
        return {};
    std::vector<std::string> names;
    for (const Json& file : files)
        names.push_back(name_of(file));
    return std::ranges::all_of(names, is_plain) ? joined(names, ", ") : files.dump();
}

Expected<Json> parse_data(const std::string& path, const std::string& text, const Json& before)
{
    const std::string_view line = trimmed(text);
    if (line.empty())
        return Json();
    if (line.front() == '[')
        return parse_json(line, path);
    Json files = Json::array();
    for (std::size_t from = 0; from <= line.size();) {
        const std::size_t end = std::min(line.find(',', from), line.size());
        const std::string name(trimmed(line.substr(from, end - from)));
        from = end + 1;
        if (name.empty())
            return Problem{ProblemCode::bad_input, "expected the name of a file on either side of each comma",
                R"(a name with a comma in it is written as [{"path": "a,b.bin"}])", path};
        const auto known
            = std::find_if(before.begin(), before.end(), [&name](const Json& file) { return name_of(file) == name; });
        files.push_back(known != before.end() ? *known : Json{{"path", name}});
    }
    return files;
}

Expected<void> check_data_files(const Plan& plan, const std::string& path, const Json& files)
{
    ResolvedPlan place;
    place.where = plan.where;
    for (std::size_t i = 0; i < (files.is_array() ? files.size() : 0); ++i) {
        DataSource source;
        const std::string at = path + "." + std::to_string(i);
        FOURFOLD_TRY(const std::filesystem::path file, named_file(place, name_of(files[i]), at));
        source.path = file.string();
        if (const auto dtype = files[i].find("dtype"); dtype != files[i].end() && dtype->is_string())
            source.dtype = dtype->get<std::string>();
        FOURFOLD_CHECK(open_tokens(source, at));
    }
    return {};
}

std::string data_name(const Plan& plan, const std::filesystem::path& file)
{
    if (plan.where.empty() || file.is_relative())
        return file.string();
    const std::filesystem::path folder = std::filesystem::absolute(plan.where).parent_path().lexically_normal();
    const std::filesystem::path inside = file.lexically_normal().lexically_relative(folder);
    return inside.empty() || *inside.begin() == ".." ? file.string() : inside.string();
}

} // namespace fourfold::view
