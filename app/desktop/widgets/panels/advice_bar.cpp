// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/advice_bar.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/text/elided_label.h"
#include "app/models/shared/text.h"

#include <QLabel>
#include <QPushButton>

namespace fourfold::ui {

namespace {
constexpr int kBarHeight = 36;
}

AdviceBar::AdviceBar(AdviceFinder& finder, QWidget* parent)
    : QFrame(parent)
    , m_finder(finder)
    , m_text(named(makeWords("muted", {}, new ElidedLabel), "adviceText"))
    , m_apply(makeButton(tr("Apply"), "small", "applyAdvice"))
    , m_all(makeButton(tr("All changes"), "small", "allAdvice", tr("Every change that helps, with its price")))
{
    setProperty("role", "frame");
    fixHeight(this, kBarHeight); // it says something else after every edit, but nothing may jump
    m_text->setWordWrap(false);
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    setLayout(rowOf({{m_text, 1}, m_apply, m_all}, 8, {12, 4, 8, 4}));
    connect(m_apply, &QPushButton::clicked, this, [this] { m_finder.apply(0); });
    connect(m_all, &QPushButton::clicked, this, &AdviceBar::allRequested);
    connect(&finder, &AdviceFinder::changed, this, &AdviceBar::showState);
    showState();
}

QString AdviceBar::text() const
{
    return m_text->text();
}

void AdviceBar::showState()
{
    const std::optional<AdviceReport>& report = m_finder.report();
    const bool tooLarge = report && report->now.fit == Fit::no;
    QString text;
    if (!report)
        text = m_finder.isLooking() ? tr("Looking for changes that help\u2026")
                                    : tr("Changes that help are named here as soon as the plan is valid.");
    else if (tooLarge && report->to_fit.empty())
        text = tr("Does not fit, and no change that was tried makes it fit (%1 tried).")
                   .arg(grouped(double(report->tried)));
    else if (tooLarge)
        text = tr("Does not fit. %1 it fit: %2")
                   .arg(report->pairs ? tr("These two changes make") : tr("This change makes"),
                       fromUtf8(view::advice_words(report->to_fit.front())));
    else if (report->faster.empty())
        text = tr("No single change makes it faster by 1 % or more (%1 tried).").arg(grouped(double(report->tried)));
    else
        text = tr("Would make it faster: %1").arg(fromUtf8(view::advice_words(report->faster.front())));
    m_text->setText(text);
    m_text->setToolTip(text);
    changeRole(m_text, tooLarge ? QStringLiteral("bad") : QStringLiteral("muted"));
    const std::size_t count = m_finder.all().size();
    m_apply->setEnabled(count > 0);
    m_apply->setToolTip(
        count > 0 ? tr("Put this change into the plan; undo takes it back") : tr("There is no change to apply"));
    m_all->setText(count > 1 ? tr("All %1").arg(count) : tr("All changes"));
}

} // namespace fourfold::ui
