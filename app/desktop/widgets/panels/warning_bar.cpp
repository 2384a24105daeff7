// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/warning_bar.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/text/elided_label.h"
#include "app/models/shared/text.h"
#include "app/view/answer.h"

#include <QPushButton>

namespace fourfold::ui {

namespace {
constexpr int kWarningBarHeight = 30;
}

WarningBar::WarningBar(QWidget* parent)
    : QFrame(parent)
    , m_first(named(makeWords("muted", {}, new ElidedLabel), "warningText"))
    , m_more(makeButton({}, "small", "allWarnings"))
    , m_config(makeButton({}, "small", "modelConfig",
          tr("What the planner uses of the model's config.json, what it does not, and what that may cost")))
{
    setProperty("role", "frame");
    fixHeight(this, kWarningBarHeight); // there also without a warning: an edit must not make the page jump
    m_first->setWordWrap(false);
    m_first->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    setLayout(rowOf({{m_first, 1}, m_config, m_more}, 8, {12, 2, 8, 2}));
    connect(m_config, &QPushButton::clicked, this, &WarningBar::configRequested);
    connect(m_more, &QPushButton::clicked, this, &WarningBar::allRequested);
    showProblem({});
    m_more->hide();
    m_config->hide();
}

void WarningBar::showProblem(const QString& problem)
{
    changeRole(m_first, problem.isEmpty() ? QStringLiteral("muted") : QStringLiteral("bad"));
    m_first->setText(problem.isEmpty() ? tr("Warnings are named here as soon as the plan is valid.") : problem);
    m_first->setToolTip(problem);
}

void WarningBar::showConfig(bool isThere, bool hasIgnored)
{
    m_config->setText(hasIgnored ? tr("Config: keys ignored") : tr("Config"));
    m_config->setVisible(isThere);
}

void WarningBar::showWarnings(const Prediction& prediction)
{
    const std::size_t count = prediction.warnings.size();
    m_all = fromUtf8(view::warning_lines(prediction.warnings)).trimmed();
    m_first->setText(count > 0
            ? m_all.section(QLatin1Char('\n'), 0, 0)
            : tr("No warnings. Confidence: %1").arg(fromUtf8(view::evidence_text(prediction.evidence))));
    m_first->setToolTip(m_all);
    changeRole(m_first, count > 0 ? QStringLiteral("warning") : QStringLiteral("muted"));
    m_more->setText(count > 1 ? tr("All %1").arg(count) : tr("In full"));
    m_more->setVisible(count > 0);
}

} // namespace fourfold::ui
