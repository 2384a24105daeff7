// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/plan/config/config_panel.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/dialogs/fields_dialog.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/plan/config/form_section.h"
#include "app/desktop/pages/plan/config/sections.h"
#include "app/desktop/widgets/panels/announcer.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/scroll_column.h"
#include "app/models/shared/text.h"

#include <QLabel>

#include <set>

namespace fourfold::ui {

namespace {
constexpr int kPanelWidth = 340; // at least
constexpr int kLongestWord = 40; // letters that it has room for

QLabel* remarkLine(const char* role)
{
    auto* label = new QLabel;
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText); // a rich text is laid out by a document, ten times as slow
    label->setContentsMargins(12, 0, 12, 8);
    label->setProperty("role", role);
    return label;
}

std::size_t fieldsOf(const std::vector<Reason>& reasons)
{
    std::set<std::string> fields;
    for (const Reason& reason : reasons)
        fields.insert(reason.field);
    return fields.size();
}
} // namespace

ConfigPanel::ConfigPanel(PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_model(makeModelSection(document, [this] { emit importRequested(); }))
    , m_hardware(makeHardwareSection(document))
    , m_layout(makeLayoutSection(document))
    , m_batch(makeBatchSection(document))
    , m_techniques(makeTechniquesSection(document))
    , m_verdict(remarkLine("good"))
    , m_verdictRest(remarkLine("normal"))
    , m_otherReasons(remarkLine("bad"))
    , m_unknownKeys(remarkLine("warning"))
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
    usePanelStyle(this);
    QPushButton* all = makeButton(tr("Every field\u2026"), "small", "everyField",
        tr("All that the plan's file can say: learning rate, checkpoints, data, links of the cluster"));
    connect(all, &QPushButton::clicked, this, [this] { FieldsDialog(m_document, {}, this).exec(); });
    QWidget* body = makePanel(
        columnOf({m_model, makeSeparator(Qt::Horizontal), m_hardware, makeSeparator(Qt::Horizontal), m_layout,
            makeVerdict(), m_otherReasons, makeSeparator(Qt::Horizontal), m_batch, makeSeparator(Qt::Horizontal),
            m_techniques, rowOf({all, Item::spring()}, 0, {12, 4, 12, 8}), m_unknownKeys, Item::spring()}));
    useFont(m_otherReasons, -0.5);
    useFont(m_unknownKeys, -0.5);

    auto* scroll = new ScrollColumn(body);
    scroll->setProperty("gap", false);
    setLayout(columnOf({panelTitle(tr("Configuration")), {scroll, 1}}));
    connect(&document, &PlanDocument::planChanged, this, &ConfigPanel::showPlan);
    connect(&document, &PlanDocument::predictionChanged, this, &ConfigPanel::showVerdict);
    showPlan();
}

std::array<FormSection*, 5> ConfigPanel::sections() const
{
    return {m_model, m_hardware, m_layout, m_batch, m_techniques};
}

// As wide as its rows need.
QSize ConfigPanel::minimumSizeHint() const
{
    return QWidget::minimumSizeHint().expandedTo({px(kPanelWidth), 0});
}

QLayout* ConfigPanel::makeVerdict()
{
    m_verdict->setObjectName(QStringLiteral("verdict"));
    m_verdict->setWordWrap(false);
    m_verdict->setContentsMargins(12, 0, 0, 8);
    useFont(m_verdict, 0, QFont::DemiBold);
    m_verdictRest->setContentsMargins(0, 0, 12, 8);
    return rowOf({{m_verdict, 0, Qt::AlignTop}, {m_verdictRest, 1, Qt::AlignTop}}, 4);
}

void ConfigPanel::showPlan()
{
    for (FormSection* section : sections())
        section->showPlan();
    QStringList keys;
    for (const std::string& key : m_document.plan().unknown_keys)
        keys << fromUtf8(key);
    m_unknownKeys->setVisible(!keys.isEmpty());
    m_unknownKeys->setText(
        labelText(tr("Nothing reads these keys of the file (they are kept): %1").arg(keys.join(QStringLiteral(", "))),
            kLongestWord));
    showVerdict();
}

void ConfigPanel::showVerdict()
{
    std::vector<Reason> reasons = m_document.brokenRules();
    const bool answered = m_document.isAnswered();
    if (answered)
        reasons = m_document.prediction()->reasons;
    for (FormSection* section : sections())
        section->takeReasons(reasons);

    QStringList others;
    if (m_document.problem())
        others << fromUtf8(m_document.problem()->line());
    for (const Reason& reason : reasons)
        others << fromUtf8(reason.message);
    m_otherReasons->setVisible(!others.isEmpty());
    if (const QString text = labelText(others.join(QLatin1Char('\n')), kLongestWord); m_otherReasons->text() != text) {
        m_otherReasons->setText(text);
        if (isVisible())
            announce(*this, text);
    }

    if (m_document.isValid() && !answered)
        return; // the verdict of the plan before stays until the answer is here
    const view::Verdict verdict = answered ? view::verdict_of(*m_document.prediction())
                                           : view::invalid_verdict(fieldsOf(m_document.brokenRules()));
    if (const QString word = fromUtf8(verdict.word); m_verdict->text() != word && isVisible())
        announce(*this, word + QLatin1Char(' ') + fromUtf8(verdict.rest));
    changeRole(m_verdict, roleOf(verdict.tone));
    m_verdict->setText(fromUtf8(verdict.word));
    m_verdictRest->setText(fromUtf8(verdict.rest));
}

} // namespace fourfold::ui
