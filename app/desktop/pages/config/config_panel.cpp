// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/config/config_panel.h"

#include "app/desktop/pages/config/batch_section.h"
#include "app/desktop/pages/config/hardware_section.h"
#include "app/desktop/pages/config/layout_section.h"
#include "app/desktop/pages/config/model_section.h"
#include "app/desktop/theme.h"
#include "app/desktop/widgets/panel.h"
#include "app/desktop/zoom.h"
#include "app/models/text.h"

#include <QEvent>
#include <QFrame>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include <set>

namespace fourfold::ui {

namespace {
constexpr int kPanelWidth = 340; // at least

QLabel* makeLine(const char* role)
{
    auto* label = new QLabel;
    label->setWordWrap(true);
    label->setTextFormat(Qt::RichText);
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
    , m_model(new ModelSection(document))
    , m_hardware(new HardwareSection(document))
    , m_layout(new LayoutSection(document))
    , m_batch(new BatchSection(document))
    , m_verdict(makeLine("normal"))
    , m_otherReasons(makeLine("bad"))
    , m_unknownKeys(makeLine("warning"))
{
    limitWidth(this, kPanelWidth);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
    usePanelStyle(this);
    auto* title = new QLabel(tr("Configuration"));
    title->setProperty("role", "paneltitle");

    auto* body = makePanel();
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_model);
    column->addWidget(makeSeparator());
    column->addWidget(m_hardware);
    column->addWidget(makeSeparator());
    column->addWidget(m_layout);
    column->addWidget(m_verdict);
    column->addWidget(m_otherReasons);
    column->addWidget(makeSeparator());
    column->addWidget(m_batch);
    column->addWidget(m_unknownKeys);
    column->addStretch();
    m_verdict->setObjectName(QStringLiteral("verdict"));
    useFont(m_otherReasons, -0.5);
    useFont(m_unknownKeys, -0.5);

    auto* scroll = new QScrollArea;
    scroll->setWidget(body);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    outer->addWidget(title);
    outer->addWidget(scroll, 1);

    connect(m_model, &ModelSection::importRequested, this, &ConfigPanel::importRequested);
    connect(&document, &PlanDocument::planChanged, this, &ConfigPanel::showPlan);
    connect(&document, &PlanDocument::predictionChanged, this, &ConfigPanel::showVerdict);
    showPlan();
}

// The verdict carries its colour in its text.
void ConfigPanel::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        showVerdict();
    QWidget::changeEvent(event);
}

QWidget* ConfigPanel::makeSeparator()
{
    auto* line = new QFrame;
    line->setProperty("role", "separator");
    line->setFixedHeight(1);
    return line;
}

QString ConfigPanel::verdictText() const
{
    return m_verdict->text();
}

void ConfigPanel::showPlan()
{
    m_model->showPlan();
    m_hardware->showPlan();
    m_layout->showPlan();
    m_batch->showPlan();
    QStringList keys;
    for (const std::string& key : m_document.plan().unknown_keys)
        keys << fromUtf8(key).toHtmlEscaped();
    m_unknownKeys->setVisible(!keys.isEmpty());
    m_unknownKeys->setText(
        tr("Nothing reads these keys of the file (they are kept): %1").arg(keys.join(QStringLiteral(", "))));
    showVerdict();
}

void ConfigPanel::showVerdict()
{
    std::vector<Reason> reasons = m_document.brokenRules();
    const bool answered = m_document.isAnswered();
    if (answered)
        reasons = m_document.prediction()->reasons;
    for (FormSection* section : std::initializer_list<FormSection*>{m_model, m_hardware, m_layout, m_batch})
        section->takeReasons(reasons);

    QStringList others;
    if (m_document.problem())
        others << fromUtf8(m_document.problem()->line()).toHtmlEscaped();
    for (const Reason& reason : reasons)
        others << fromUtf8(reason.message).toHtmlEscaped();
    m_otherReasons->setVisible(!others.isEmpty());
    m_otherReasons->setText(others.join(QStringLiteral("<br>")));

    if (m_document.isValid() && !answered)
        return; // the verdict of the plan before stays until the answer is here
    const Verdict verdict
        = answered ? verdictOf(*m_document.prediction()) : invalidVerdict(fieldsOf(m_document.brokenRules()));
    const Theme& theme = themeOf(this);
    m_verdict->setText(
        QStringLiteral("<span style='color:%1'><b>%2</b></span> %3")
            .arg(theme.toneColor(verdict.tone).name(), verdict.word.toHtmlEscaped(), verdict.rest.toHtmlEscaped()));
}

} // namespace fourfold::ui
