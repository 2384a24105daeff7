// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan.h"
#include "core/base/input_file.h"
#include "core/base/text.h"
#include "core/plan/fields.h"

#include <utility>

namespace fourfold {

namespace {
constexpr std::size_t kMaxPlanBytes = 16u << 20;
constexpr int kFormatVersion = 1;

Expected<void> check_version(const Json& document, const std::string& where)
{
    const auto found = document.find("fourfold_plan");
    if (found == document.end() || found->is_null() || *found == kFormatVersion)
        return {};
    return Problem{ProblemCode::unsupported,
        "plan format " + printable(found->dump(), 40) + ", this program reads format " + std::to_string(kFormatVersion),
        "update Fourfold or set fourfold_plan to " + std::to_string(kFormatVersion), at_field(where, "fourfold_plan")};
}

Expected<void> check_required(const Json& document, const std::string& where)
{
    const std::pair<const char*, const char*> required[]{{"model", "a preset's id or a config.json object"},
        {"cluster", "a preset's id or an object"}, {"gpus", "the number of GPUs"}};
    for (const auto& [key, expected] : required) {
        const auto found = document.find(key);
        if (found == document.end() || found->is_null())
            return Problem{ProblemCode::bad_input, std::string("missing, expected ") + expected,
                "a plan needs model, cluster and gpus", at_field(where, key)};
    }
    return {};
}
} // namespace

Expected<Plan> plan_from_json(Json document, const std::string& where)
{
    if (!document.is_object())
        return Problem{
            ProblemCode::bad_input, "a plan is a JSON object, found " + std::string(document.type_name()), "", where};
    Plan plan;
    plan.where = where;
    FOURFOLD_CHECK(check_types(document, "", where, "", &plan.unknown_keys));
    FOURFOLD_CHECK(check_version(document, where));
    FOURFOLD_CHECK(check_required(document, where));
    plan.document = std::move(document);
    return plan;
}

Expected<Plan> parse_plan(std::string_view text, const std::string& where)
{
    if (text.size() > kMaxPlanBytes)
        return Problem{ProblemCode::bad_input, "is larger than " + std::to_string(kMaxPlanBytes) + " bytes", "", where};
    FOURFOLD_TRY(Json document, parse_json(text, where));
    return plan_from_json(std::move(document), where);
}

Expected<Plan> read_plan(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const std::string text, read_input(file, kMaxPlanBytes));
    return parse_plan(text, file.string());
}

std::string to_text(const Plan& plan)
{
    return plan.document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace fourfold
