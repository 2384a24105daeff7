// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/window_status.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/announcer.h"
#include "app/desktop/widgets/text/elided_label.h"
#include "app/models/plan/plan_document.h"
#include "app/models/shared/text.h"
#include "app/view/answer.h"
#include "core/report/views/nearest_row.h"

#include <QCoreApplication>
#include <QLabel>
#include <QStatusBar>

namespace fourfold::ui {

namespace {
constexpr int kWidestEvidence = 640;
}

WindowStatus::WindowStatus(QStatusBar& bar)
    : m_evaluated(new QLabel)
    , m_evidence(new ElidedLabel)
{
    auto* version = new QLabel(tr("Fourfold %1").arg(QCoreApplication::applicationVersion()));
    for (QLabel* label : {m_evaluated, m_evidence, version}) {
        label->setProperty("role", "muted");
        label->setContentsMargins(8, 0, 8, 0);
    }
    limitGrowth(m_evidence, kWidestEvidence);
    bar.addWidget(m_evaluated);
    bar.addPermanentWidget(m_evidence);
    bar.addPermanentWidget(version);
    bar.setSizeGripEnabled(false);
    connect(&bar, &QStatusBar::messageChanged, this, [this, &bar](const QString& message) {
        m_evidence->setVisible(message.isEmpty()); // the message has its room meanwhile
        announce(bar, message);
    });
}

void WindowStatus::setDocument(PlanDocument& document)
{
    disconnect(m_connection);
    m_connection = connect(&document, &PlanDocument::predictionChanged, this, [this, &document] { show(document); });
    show(document);
}

void WindowStatus::show(const PlanDocument& document)
{
    if (!document.prediction()) { // nothing of another plan stays
        m_evaluated->clear();
        m_evidence->clear();
        return;
    }
    const Prediction& prediction = *document.prediction();
    m_evaluated->setText(document.isAnswered()
            ? tr("Evaluated in %1").arg(duration(document.predictionMilliseconds() / 1e3))
            : tr("Showing the last valid plan"));
    QString evidence = QStringLiteral("%1: %2").arg(
        fromUtf8(prediction.plan.stack.name), fromUtf8(view::evidence_text(prediction.evidence)));
    if (prediction.nearest)
        evidence += tr("; nearest: %1").arg(fromUtf8(nearest_row_text(*prediction.nearest)));
    m_evidence->setText(evidence);
}

} // namespace fourfold::ui
