// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/window_exports.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/dialogs/save_file.h"
#include "app/desktop/main_window.h"
#include "app/desktop/page_stack.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "core/predict/step_time.h"
#include "core/report/timeline_export.h"

#include <QCoreApplication>

#include <utility>

namespace fourfold::ui {

namespace {
struct ExportWords {
    Q_DECLARE_TR_FUNCTIONS(ExportWords)
};
} // namespace

void askExportTimeline(MainWindow& window)
{
    if (!window.document().isAnswered()) {
        window.say(ExportWords::tr("There is no timeline: the plan is not valid"));
        return;
    }
    const QString file = askSaveFile(&window, ExportWords::tr("Export timeline"), QStringLiteral("timeline.svg"),
        ExportWords::tr("SVG (*.svg);;PNG (*.png);;PDF (*.pdf);;Chrome trace (*.json)"), QStringLiteral("svg"));
    if (file.isEmpty())
        return;
    const Prediction& prediction = *window.document().prediction();
    const Expected<void> written
        = export_timeline({prediction.timeline, steady_part(prediction)}, prediction.plan.name, file.toStdString());
    if (written)
        window.say(ExportWords::tr("Timeline written to %1").arg(file));
    else
        showProblem(&window, ExportWords::tr("The timeline was not written"), written.error());
}

void askExportReport(MainWindow& window)
{
    const QString file = askSaveFile(&window, ExportWords::tr("Export report"), QStringLiteral("report.pdf"),
        ExportWords::tr("PDF (*.pdf)"), QStringLiteral("pdf"));
    if (file.isEmpty())
        return;
    const std::optional<ReportPage> own = window.pages().current().ownReport();
    const ReportPage report = own ? *own : window.planPage().report();
    if (const Expected<void> written = writeReport(report, file); !written)
        showProblem(&window, ExportWords::tr("The report was not written"), written.error());
    else
        window.say(ExportWords::tr("Report written to %1").arg(file));
}

void showFocusedAsTable(MainWindow& window)
{
    Card* card = nullptr;
    for (QWidget* at = window.focusWidget(); at && !card; at = at->parentWidget())
        card = qobject_cast<Card*>(at);
    if (card && !card->hasTable())
        card = nullptr;
    if (!card) { // the page's first picture, rather than one number
        QPoint first;
        for (Card* candidate : window.pages().current().findChildren<Card*>()) {
            const QPoint at = candidate->mapTo(&window, QPoint());
            const bool earlier = !card || std::pair(at.y(), at.x()) < std::pair(first.y(), first.x());
            if (!candidate->isVisible() || qobject_cast<FigureCard*>(candidate) || !candidate->hasTable() || !earlier)
                continue;
            card = candidate;
            first = at;
        }
    }
    if (card && card->hasTable())
        showAsTable(*card, &window);
    else
        window.say(ExportWords::tr("This page has no picture to show as a table"));
}

} // namespace fourfold::ui
