// SPDX-License-Identifier: GPL-3.0-or-later
// What is compared, as a map that the session keeps, and as part of a project: the added entries, the open plans that
// are in it, the reference.
#pragma once

#include "core/base/json.h"

#include <QString>
#include <QVariantMap>

#include <filesystem>

namespace fourfold::ui::compared {

// Members of the map.
inline const QString kAdded = QStringLiteral("added"); // origins (compare_origin.h)
inline const QString kSeries = QStringLiteral("series"); // the same of curves
inline const QString kLeftOut = QStringLiteral("leftOut"); // files of open plans that are not in it
inline const QString kPlans = QStringLiteral("plans"); // instead, of one with a name: files of those that are
inline const QString kReference = QStringLiteral("reference"); // an origin, or a plan's title
inline const QString kDifferences = QStringLiteral("differencesOnly");

// With files relative to `folder`, and back. What cannot be used is left out.
Json toJson(const QVariantMap& comparison, const std::filesystem::path& folder);
QVariantMap fromJson(const Json& json, const std::filesystem::path& folder);

} // namespace fourfold::ui::compared
