// SPDX-License-Identifier: GPL-3.0-or-later
// Published tables as series of the scaling chart: which are there, and how the next session has them again.
#pragma once

#include "app/desktop/pages/compare/compare_charts.h"
#include "app/models/compare/compare_entry.h"

#include <QStringList>

#include <vector>

namespace fourfold::ui {

class CompareSeries {
public:
    // The best measured throughput of each job of the table that is about a compared model and GPU (of every job, where
    // none is). Adding it again changes nothing. Returns how many jobs it is.
    std::size_t add(const MeasuredTable& table, const std::vector<CompareEntry>& compared);
    void remove(std::size_t index);
    void clear();
    [[nodiscard]] const std::vector<CurveSeries>& curves() const { return m_curves; }
    // For the session, also of what was kept and not read yet.
    [[nodiscard]] QStringList origins() const { return m_origins + m_kept; }
    void keep(const QStringList& origins) { m_kept = origins; }
    // Reads what was kept; what is gone since is left out. False: there was nothing.
    bool readKept(const Presets& presets);

private:
    void take(const CurveSeries& curve, const QString& origin);

    std::vector<CurveSeries> m_curves;
    QStringList m_origins; // of the curves, one each
    QStringList m_kept; // of the last session
};

} // namespace fourfold::ui
