// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/nothing_found_view.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "app/view/plan/facts.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace fourfold::ui {

namespace {
constexpr int kTextWidth = 760;

QLabel* sentenceLine(const char* role, const QString& text = {})
{
    QLabel* label = makeWords(role, text);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

QString sentence(const std::string& words)
{
    QString text = fromUtf8(words);
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    return text;
}
} // namespace

NothingFoundView::NothingFoundView(CureFinder& finder, QWidget* parent)
    : QWidget(parent)
    , m_finder(finder)
    , m_obstacle(sentenceLine("heading"))
    , m_nearest(sentenceLine("muted"))
    , m_lead(sentenceLine("heading"))
    , m_cures(new QVBoxLayout)
{
    setAccessibleName(tr("Nothing found"));
    m_cures->setSpacing(10);
    QWidget* inner = holderOf(
        columnOf({m_obstacle, m_nearest, Item::gap(12), m_lead, m_cures, Item::spring()}, 8, {24, 24, 24, 24}));
    limitGrowth(inner, kTextWidth);
    setLayout(rowOf({{inner, 1}, Item::spring()}, 6));
    connect(&finder, &CureFinder::changed, this, &NothingFoundView::showState);
    showState();
}

QString NothingFoundView::text() const
{
    QStringList lines;
    for (const QLabel* label : findChildren<QLabel*>()) {
        if (!label->text().isEmpty())
            lines.append(label->text());
    }
    return lines.join(QLatin1Char('\n'));
}

void NothingFoundView::addCure(std::size_t index, const Advice& cure)
{
    const ResolvedPlan& plan = cure.edit.plan;
    const QString outcome = tr("%1 on %2 GPUs: %3 TPS/GPU, %4 GiB on the device")
                                .arg(fromUtf8(view::layout_line(plan.layout)), grouped(plan.gpus),
                                    grouped(cure.tps_per_gpu), gib(cure.memory_device_gib));
    const QString change
        = tr("%1, against the nearest layout")
              .arg(fromUtf8(cure.edit.summary).replace(QStringLiteral("->"), QStringLiteral("\u2192")));
    QPushButton* apply
        = makeButton(tr("Put into the plan"), "small", "", tr("The plan gets this layout; undo takes it back"));
    apply->setObjectName(QStringLiteral("applyCure%1").arg(index));
    apply->setAccessibleName(tr("Put into the plan: %1").arg(outcome));
    connect(apply, &QPushButton::clicked, this, [this, index] { emit applyRequested(index); });
    auto* words = columnOf({sentenceLine("", outcome), sentenceLine("muted", change)}, 2);
    m_cures->addWidget(holderOf(rowOf({{words, 1}, {apply, 0, Qt::AlignTop}}, 12)));
}

void NothingFoundView::showState()
{
    while (QLayoutItem* item = m_cures->takeAt(0)) {
        item->widget()->hide(); // its button may be what was clicked
        item->widget()->deleteLater();
        delete item;
    }
    const std::optional<Problem>& obstacle = m_finder.obstacle();
    m_obstacle->setText(obstacle ? sentence(obstacle->message) : QString());
    m_nearest->setText(obstacle ? sentence(obstacle->hint) : QString());
    const std::vector<Advice>& all = m_finder.all();
    m_lead->setText(!obstacle      ? QString()
            : m_finder.isLooking() ? tr("Looking for the cheapest changes that would do\u2026")
            : all.empty()          ? tr("No change that was tried leads to a layout.")
                                   : tr("Layouts that would do"));
    for (std::size_t i = 0; i < all.size(); ++i)
        addCure(i, all[i]);
    setAccessibleDescription(text());
}

} // namespace fourfold::ui
