// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/trace_difference.h"

#include "app/models/shared/text.h"
#include "core/predict/term_off.h"

#include <QStringList>

#include <cmath>

namespace fourfold::ui {

namespace {
QString signedDuration(double seconds)
{
    return (seconds < 0 ? QLatin1Char('-') : QLatin1Char('+')) + duration(std::abs(seconds));
}
} // namespace

QString traceDifference(const Timeline& first, const Timeline& second, int most)
{
    if (first.spans.empty() || second.spans.empty())
        return {};
    QStringList terms;
    const std::vector<TermOff> all = terms_off(first, second);
    for (const TermOff& term : all) {
        if (terms.size() == most)
            break;
        terms << tr("%1 %2 \u2192 %3 (%4)")
                     .arg(fromUtf8(term.term), duration(term.predicted_s), duration(term.measured_s),
                         signedDuration(term.difference_s()));
    }
    const double left = double(all.size()) - double(terms.size());
    if (left > 0)
        terms << tr("%1 more").arg(grouped(left));
    return tr("Step %1 \u2192 %2 (%3). An average stage: %4")
        .arg(duration(first.length_s), duration(second.length_s), signedDuration(second.length_s - first.length_s),
            terms.join(QStringLiteral(", ")));
}

} // namespace fourfold::ui
