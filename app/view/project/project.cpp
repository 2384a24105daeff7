// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/project/project.h"

#include "core/base/input_file.h"
#include "core/base/json_member.h"
#include "core/base/text.h"
#include "core/calibration/score_card.h"

#include <algorithm>
#include <utility>

#include <sys/stat.h>

namespace fourfold::view {

namespace {
constexpr int kProjectFormat = 1;
constexpr const char* kPublished = "published:";
constexpr std::size_t kMostBytes = 16U << 20, kMostPlans = 1000, kLongestValue = 40; // characters

// Empty: nothing is there, or what save() refuses to write to. Of a file that cannot be read why not, which is another
// text than any that was.
std::string text_there(const std::filesystem::path& file)
{
    struct stat there { };
    if (::stat(file.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
        return {};
    const Expected<std::string> text = read_text_file(file, kMostBytes);
    if (text)
        return *text;
    return text.error().code == ProblemCode::not_found ? std::string() : text.error().line();
}

std::filesystem::path absolute_folder(const std::filesystem::path& folder)
{
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(folder), error);
    return error ? std::filesystem::absolute(folder) : whole;
}

// All of them would be opened.
Expected<void> check_plans(std::size_t count, const std::string& where)
{
    if (count <= kMostPlans)
        return {};
    return Problem{ProblemCode::bad_input, "has " + std::to_string(count) + " plans",
        "a project opens at most " + std::to_string(kMostPlans), where};
}

Expected<void> check_format(const Json& document, const std::string& where)
{
    if (!document.is_object() || !document.contains("fourfold_project"))
        return Problem{ProblemCode::bad_input, "is no project", "expected an object with fourfold_project: 1", where};
    const int format = member_or(document, "fourfold_project", 0);
    if (format != kProjectFormat)
        return Problem{ProblemCode::bad_input,
            "has format " + printable(document.at("fourfold_project").dump(), kLongestValue),
            "this version reads fourfold_project: " + std::to_string(kProjectFormat), where};
    return check_plans(texts_of(document, "plans").size(), where);
}
} // namespace

std::vector<std::filesystem::path> plans_of_folder(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> plans;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code unreadable;
        if (at->path().filename().string().ends_with(".plan.json") && at->is_regular_file(unreadable))
            plans.push_back(at->path());
    }
    std::sort(plans.begin(), plans.end());
    return plans;
}

bool is_project(const std::filesystem::path& folder)
{
    std::error_code error;
    return std::filesystem::exists(folder / kProjectFile, error) || !plans_of_folder(folder).empty();
}

std::string portable_path(const std::filesystem::path& file, const std::filesystem::path& folder)
{
    if (file.extension() == ".csv") {
        for (const std::filesystem::path& table : published_tables()) {
            std::error_code error;
            if (std::filesystem::equivalent(table, file, error))
                return kPublished + table.filename().string();
        }
    }
    return absolute_folder(file).lexically_relative(absolute_folder(folder)).generic_string();
}

std::filesystem::path path_of(const std::string& portable, const std::filesystem::path& folder)
{
    const std::string published = kPublished;
    if (!portable.starts_with(published))
        return (folder / portable).lexically_normal();
    const std::string name = portable.substr(published.size());
    for (const std::filesystem::path& table : published_tables()) {
        if (table.filename() == name)
            return table;
    }
    return name; // of another version of the program: it is not there, and is told so
}

Project::Project(std::filesystem::path folder, Json document, std::string file_text)
    : folder_(std::move(folder))
    , document_(std::move(document))
    , file_text_(std::move(file_text))
    , kept_(text())
{
}

Expected<Project> Project::open(const std::filesystem::path& place)
{
    std::error_code error;
    const bool is_file = place.filename() == kProjectFile;
    const std::filesystem::path folder = absolute_folder(is_file ? place.parent_path() : place);
    if (!std::filesystem::is_directory(folder, error))
        return Problem{ProblemCode::bad_input, "there is no such folder", "", folder.string()};
    const std::filesystem::path file = folder / kProjectFile;
    if (!std::filesystem::exists(file, error)) {
        Project project(folder, Json{{"fourfold_project", kProjectFormat}}, "");
        const std::vector<std::filesystem::path> plans = plans_of_folder(folder);
        FOURFOLD_CHECK(check_plans(plans.size(), folder.string()));
        project.set_plans(plans);
        project.kept_ = project.text();
        if (project.plans().empty())
            return Problem{ProblemCode::bad_input, "this folder is no project",
                "expected " + std::string(kProjectFile) + " or plans (*.plan.json) in it", folder.string()};
        return project;
    }
    FOURFOLD_TRY(std::string text, read_text_file(file, kMostBytes));
    FOURFOLD_TRY(Json document, parse_json(text, file.string()));
    FOURFOLD_CHECK(check_format(document, file.string()));
    return Project(folder, std::move(document), std::move(text));
}

Expected<Project> Project::create(const std::filesystem::path& folder)
{
    FOURFOLD_CHECK(make_folders(folder));
    std::error_code error;
    if (std::filesystem::exists(folder / kProjectFile, error))
        return Problem{ProblemCode::bad_input, "is a project already", "open it instead", folder.string()};
    Project project(absolute_folder(folder), Json{{"fourfold_project", kProjectFormat}}, "");
    project.kept_.clear();
    FOURFOLD_CHECK(project.save());
    return project;
}

std::string Project::name() const
{
    return member_or(document_, "name", folder_.filename().string());
}

std::vector<std::filesystem::path> Project::plans() const
{
    std::vector<std::filesystem::path> files;
    for (const std::string& plan : texts_of(document_, "plans"))
        files.push_back(path_of(plan, folder_));
    return files;
}

void Project::set_plans(const std::vector<std::filesystem::path>& files)
{
    if (files == this->plans())
        return; // the file may name them in other words
    Json plans = Json::array();
    for (const std::filesystem::path& file : files)
        plans.push_back(portable_path(file, folder_));
    set_part("plans", std::move(plans));
}

void Project::follow_plans(
    const std::vector<std::filesystem::path>& open, const std::vector<std::filesystem::path>& unusable)
{
    std::vector<std::filesystem::path> plans;
    for (const std::filesystem::path& file : open)
        plans.push_back(std::filesystem::absolute(file).lexically_normal());
    const std::vector<std::filesystem::path> before = this->plans();
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (std::ranges::find(unusable, before[i]) != unusable.end()
            && std::ranges::find(plans, before[i]) == plans.end())
            plans.insert(plans.begin() + static_cast<std::ptrdiff_t>(std::min(i, plans.size())), before[i]);
    }
    set_plans(plans);
}

ViewStore Project::views(std::function<void()> keep)
{
    const auto read = [this]() -> Expected<Json> { return object_part(kViewsPart); };
    const auto write = [this, keep = std::move(keep)](const Json& all) -> Expected<void> {
        Json views = Json::object();
        for (const auto& [table, kept] : all.items()) {
            if (!kept.empty())
                views[table] = kept;
        }
        set_part(kViewsPart, std::move(views));
        keep();
        return {};
    };
    return {read, write};
}

std::string Project::notes() const
{
    std::string notes;
    for (const std::string& line : texts_of(document_, "notes"))
        notes += line + "\n";
    return notes;
}

void Project::set_notes(const std::string& text)
{
    Json lines = Json::array();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    set_part("notes", std::move(lines));
}

Json Project::part(const char* key) const
{
    const auto found = document_.find(key);
    return found == document_.end() ? Json() : *found;
}

Json Project::object_part(const char* key) const
{
    Json part = this->part(key);
    return part.is_object() ? part : Json::object();
}

void Project::set_part(const char* key, Json value)
{
    if (value.empty())
        document_.erase(key);
    else
        document_[key] = std::move(value);
}

std::string Project::text() const
{
    return document_.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool Project::is_changed() const
{
    return text() != kept_;
}

Expected<void> Project::save()
{
    const std::string now = text();
    if (now == kept_)
        return {};
    struct stat there { };
    if (::stat(file().c_str(), &there) == 0 && !S_ISREG(there.st_mode)) // to write into a pipe would be to wait
        return Problem{ProblemCode::io, "is " + kind_of_file(there.st_mode) + ", expected a file", "move it away",
            file().string()};
    FOURFOLD_CHECK(write_file_atomically(file(), now));
    file_text_ = kept_ = now;
    return {};
}

bool Project::is_changed_on_disk() const
{
    const std::string now = text_there(file());
    return !now.empty() && now != file_text_;
}

void Project::keep_mine()
{
    file_text_ = text_there(file());
    kept_.clear();
}

} // namespace fourfold::view
