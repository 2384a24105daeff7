// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/comparison_state.h"

#include "app/models/compare/compare_origin.h"
#include "app/models/shared/text.h"
#include "app/view/project/project.h"
#include "core/base/json_member.h"

#include <QStringList>

namespace fourfold::ui::compared {

namespace {
using Folder = std::filesystem::path;

Json portableFile(const QString& file, const Folder& folder)
{
    return view::portable_path(file.toStdString(), folder);
}

QString fileFrom(const Json& portable, const Folder& folder)
{
    return portable.is_string() ? exactText(view::path_of(portable.get<std::string>(), folder).string()) : QString();
}

// A list of the map and its name in the file.
struct List {
    const QString& key;
    const char* name;
    Json (*write)(const QString&, const Folder&);
    QString (*read)(const Json&, const Folder&);
};

const List kLists[]{{kPlans, "plans", portableFile, fileFrom}, {kLeftOut, "left_out", portableFile, fileFrom},
    {kAdded, "entries", portableOrigin, originFrom}, {kSeries, "series", portableSeries, seriesFrom}};
} // namespace

Json toJson(const QVariantMap& comparison, const Folder& folder)
{
    Json json = Json::object();
    for (const List& list : kLists) {
        Json entries = Json::array();
        for (const QString& text : comparison.value(list.key).toStringList()) {
            if (Json entry = list.write(text, folder); !entry.is_null())
                entries.push_back(std::move(entry));
        }
        if (!entries.empty() || (list.key == kPlans && comparison.contains(kPlans)))
            json[list.name] = std::move(entries);
    }
    const QString reference = comparison.value(kReference).toString();
    if (const Json origin = portableOrigin(reference, folder); !origin.is_null())
        json["reference"] = origin;
    else if (!reference.isEmpty())
        json["reference"] = reference.toStdString();
    if (comparison.value(kDifferences).toBool())
        json["differences_only"] = true;
    return json;
}

QVariantMap fromJson(const Json& json, const Folder& folder)
{
    QVariantMap comparison;
    if (!json.is_object())
        return comparison;
    for (const List& list : kLists) {
        const auto entries = json.find(list.name);
        if (entries == json.end() || !entries->is_array())
            continue;
        QStringList texts;
        for (const Json& entry : *entries)
            texts << list.read(entry, folder);
        texts.removeAll(QString());
        comparison.insert(list.key, texts);
    }
    if (const auto reference = json.find("reference"); reference != json.end())
        comparison.insert(kReference,
            reference->is_string() ? exactText(reference->get<std::string>()) : originFrom(*reference, folder));
    comparison.insert(kDifferences, member_or(json, "differences_only", false));
    return comparison;
}

} // namespace fourfold::ui::compared
