// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/run_form.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/panel.h"
#include "app/desktop/widgets/text/elided_combo_box.h"
#include "app/models/plan/plan_facts.h"
#include "app/models/shared/text.h"

#include <QApplication>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

namespace fourfold::ui {

namespace {
constexpr int kFormWidth = 340;
const QString kLocal = QStringLiteral("local");
const QString kHosts = QStringLiteral("hosts"); // the entry that opens the host list

QLabel* makeWrapped(const char* role)
{
    auto* label = new QLabel;
    label->setWordWrap(true);
    label->setProperty("role", role);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}
} // namespace

RunForm::RunForm(PlanDocument& document, RunController& controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_targets(document.presets(), PresetModel::Kind::targets)
    , m_target(new ElidedComboBox)
    , m_hosts(new QLineEdit)
    , m_steps(new QSpinBox)
    , m_plan(makeWrapped("heading"))
    , m_layout(makeWrapped("muted"))
    , m_expected(makeWrapped("muted"))
    , m_message(makeWrapped("muted"))
    , m_start(new QPushButton(tr("Start run")))
    , m_stop(new QPushButton(tr("Stop")))
    , m_detach(new QPushButton(tr("Stop following")))
    , m_preview(new QPushButton(tr("Show what it does\u2026")))
    , m_check(new QPushButton(tr("Check nodes")))
    , m_sweep(new QPushButton(tr("Measure a table\u2026")))
    , m_restart(new QPushButton(tr("Restart")))
{
    fixWidth(this, kFormWidth);
    usePanelStyle(this);
    auto* title = new QLabel(tr("Run this plan"));
    title->setProperty("role", "paneltitle");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(title);
    column->addWidget(makeFields());
    column->addStretch();

    setDocument(document);
    connect(&controller, &RunController::workChanged, this, &RunForm::refresh);
    connect(m_target, &QComboBox::currentIndexChanged, this, &RunForm::refresh);
    connect(m_target, &QComboBox::activated, this, [this] { // by hand
        if (m_hosts->isVisible())
            m_hosts->setFocus();
    });
    connect(m_hosts, &QLineEdit::textChanged, this, &RunForm::refresh);
    connect(m_steps, &QSpinBox::valueChanged, this, [this] {
        m_stepsEdited = true;
        refresh();
    });
    connect(m_start, &QPushButton::clicked, this, &RunForm::start);
    connect(m_stop, &QPushButton::clicked, this, [this] {
        const bool isRun = m_controller.work() != RunController::Work::check; // a look at nodes loses nothing
        if (isRun && !askToStop(this))
            return;
        if (!m_controller.isRunning())
            return; // it ended while the question stood
        emit stopRequested();
        showState();
    });
    connect(m_detach, &QPushButton::clicked, &controller, &RunController::detach);
    connect(m_preview, &QPushButton::clicked, this, &RunForm::showPreview);
    connect(m_check, &QPushButton::clicked, this, &RunForm::check);
    connect(m_sweep, &QPushButton::clicked, this, [this] { emit sweepRequested(m_setup); });
    connect(m_restart, &QPushButton::clicked, this, &RunForm::restartRequested);
    refresh();
}

void RunForm::setDocument(PlanDocument& document)
{
    if (m_document == &document)
        return;
    disconnect(m_planConnection);
    m_document = &document;
    m_stepsEdited = false;
    m_planConnection = connect(&document, &PlanDocument::planChanged, this, &RunForm::refresh);
    refresh();
}

QWidget* RunForm::makeFields()
{
    m_target->addItem(tr("This computer"), kLocal);
    for (int row = 0; row < m_targets.rowCount(); ++row) {
        const QModelIndex at = m_targets.index(row);
        const QString id = at.data(PresetModel::IdRole).toString();
        if (id != kLocal)
            m_target->addItem(at.data().toString(), id);
    }
    m_target->addItem(tr("SSH hosts\u2026"), kHosts);
    m_target->setAccessibleName(tr("Target"));
    m_target->setObjectName(QStringLiteral("target"));
    m_hosts->setPlaceholderText(tr("user@host1, host2:2222"));
    m_hosts->setAccessibleName(tr("SSH hosts, separated by commas"));
    m_hosts->setObjectName(QStringLiteral("hosts"));
    m_steps->setRange(1, 100'000'000);
    m_steps->setGroupSeparatorShown(true);
    m_steps->setAccessibleName(tr("Steps"));
    m_steps->setObjectName(QStringLiteral("steps"));
    m_start->setProperty("primary", true);
    m_start->setObjectName(QStringLiteral("start"));
    m_stop->setProperty("plain", true);
    m_stop->setObjectName(QStringLiteral("stop"));
    m_stop->setToolTip(tr("End the run on all of its nodes"));
    m_detach->setObjectName(QStringLiteral("detach"));
    m_detach->setToolTip(tr("The run goes on on its nodes; History catches up with it again"));
    for (QPushButton* button : {m_detach, m_preview, m_check, m_sweep, m_restart})
        button->setProperty("plain", true);
    m_preview->setObjectName(QStringLiteral("preview"));
    m_check->setObjectName(QStringLiteral("checkNodes"));
    m_check->setToolTip(tr("Look at every node of the target and at the network between them; nothing is run"));
    m_sweep->setObjectName(QStringLiteral("measureTable"));
    m_sweep->setToolTip(tr("Run many layouts of this plan one after the other and fill a table with what they reach"));
    m_restart->setObjectName(QStringLiteral("restart"));
    m_restart->setToolTip(tr("End the last run if it still goes, and start the same again"));
    m_restart->setEnabled(false);
    m_message->setObjectName(QStringLiteral("message"));

    auto* fields = new QWidget;
    auto* grid = new QGridLayout(fields);
    grid->setContentsMargins(12, 12, 12, 12);
    grid->setHorizontalSpacing(10);
    grid->setVerticalSpacing(7);
    grid->setColumnMinimumWidth(0, 92);
    grid->setColumnStretch(1, 1);
    int row = 0;
    for (QLabel* line : {m_plan, m_layout, m_expected})
        grid->addWidget(line, row++, 0, 1, 2);
    grid->setRowMinimumHeight(row++, 6);
    const auto add = [&](const QString& label, QWidget* field) {
        auto* name = new QLabel(label);
        name->setBuddy(field);
        grid->addWidget(name, row, 0);
        grid->addWidget(field, row++, 1);
    };
    add(tr("Steps"), m_steps);
    add(tr("Target"), m_target);
    grid->addWidget(m_hosts, row++, 1);
    // A button must not move away from under the pointer: the room of the hosts is kept, what is said is the last.
    QSizePolicy kept = m_hosts->sizePolicy();
    kept.setRetainSizeWhenHidden(true);
    m_hosts->setSizePolicy(kept);
    grid->setRowMinimumHeight(row++, 6);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addWidget(m_start, 1);
    buttons->addWidget(m_stop);
    grid->addLayout(buttons, row++, 0, 1, 2);
    auto* more = new QGridLayout;
    more->setSpacing(8);
    more->addWidget(m_check, 0, 0);
    more->addWidget(m_restart, 0, 1);
    more->addWidget(m_preview, 1, 0);
    more->addWidget(m_sweep, 1, 1);
    more->addWidget(m_detach, 2, 0, 1, 2);
    grid->addLayout(more, row++, 0, 1, 2);
    grid->addWidget(m_message, row++, 0, 1, 2);
    return fields;
}

QString RunForm::target() const
{
    const QString id = m_target->currentData().toString();
    return id == kHosts ? m_hosts->text().remove(QLatin1Char(' ')) : id;
}

void RunForm::showEvent(QShowEvent* event)
{
    refresh();
    QWidget::showEvent(event);
}

void RunForm::refresh()
{
    m_hosts->ensurePolished(); // its height is the same hidden and shown
    m_hosts->setVisible(m_target->currentData().toString() == kHosts);
    if (!isVisible())
        return; // every edit of the plan comes by here
    std::optional<int> steps;
    if (m_stepsEdited)
        steps = m_steps->value();
    m_setup = prepareRun(*m_document, target(), steps);
    if (!m_stepsEdited && m_setup.steps > 0) {
        const QSignalBlocker blocker(m_steps);
        m_steps->setValue(m_setup.steps);
    }
    m_plan->setText(m_document->title());
    if (const std::optional<ResolvedPlan>& plan = m_document->lastResolved()) {
        m_plan->setText(fromUtf8(plan->name));
        m_layout->setText(
            QStringLiteral("%1\n%2 on %3").arg(layoutLine(plan->layout), fromUtf8(plan->model.name), gpusFact(*plan)));
    }
    const std::optional<double>& expected = m_setup.expectation.tps_per_gpu;
    m_expected->setText(expected
            ? tr("Predicted: %1 tokens/s per GPU, %2 per step")
                  .arg(throughputText(*expected), duration(m_setup.expectation.step_time_s.value_or(0)))
            : tr("Predicted: %1").arg(unknownText()));
    showState();
}

bool RunForm::canStart() const
{
    return m_setup.request.has_value() && !m_controller.isRunning();
}

void RunForm::showState()
{
    const bool running = m_controller.isRunning();
    const QWidget* focused = QApplication::focusWidget();
    const bool hadFocus = focused && isAncestorOf(focused);
    m_start->setEnabled(canStart());
    const bool checking = running && m_controller.work() == RunController::Work::check;
    m_start->setText(checking ? tr("Checking\u2026") : running ? tr("Running\u2026") : tr("Start run"));
    m_start->setToolTip(m_setup.refusal);
    m_stop->setEnabled(running && !m_controller.isStopping());
    m_detach->setVisible(running && m_controller.isFollowing());
    m_detach->setEnabled(!m_controller.isStopping());
    m_stop->setText(m_controller.isStopping() ? tr("Stopping\u2026") : tr("Stop"));
    m_preview->setEnabled(m_setup.request.has_value());
    m_check->setEnabled(!running && !target().isEmpty());
    m_sweep->setEnabled(canStart());
    const bool sweeping = running && m_controller.work() == RunController::Work::sweep;
    m_restart->setEnabled(m_canRestart && !m_controller.isStopping() && !checking && !sweeping);
    for (QWidget* field : std::initializer_list<QWidget*>{m_target, m_hosts, m_steps})
        field->setEnabled(!running);
    // Else the focus goes on to the next button by itself, and a second press of Space would stop what was started.
    if (hadFocus && !focused->isEnabled())
        m_preview->setFocus();
    const bool refused = !running && !m_setup.refusal.isEmpty();
    changeRole(m_message, refused ? QStringLiteral("bad") : QStringLiteral("muted"));
    m_message->setText(refused ? tr("Cannot run: %1").arg(m_setup.refusal) : m_setup.note);
    m_message->setVisible(!m_message->text().isEmpty());
}

void RunForm::start()
{
    refresh();
    if (canStart())
        emit startRequested(m_setup, m_plan->text());
}

void RunForm::setCanRestart(bool can)
{
    m_canRestart = can;
    showState();
}

const ResolvedPlan* RunForm::plan() const
{
    return m_setup.request ? &m_setup.request->plan : nullptr;
}

// Of the target alone: the nodes can be looked at before the plan is right.
void RunForm::check()
{
    const Expected<Target> where = load_target(target().toStdString());
    if (where)
        emit checkRequested(*where, m_hosts->isHidden() ? m_target->currentText() : target());
    else
        showProblem(this, tr("This target cannot be looked at"), where.error());
}

void RunForm::showPreview()
{
    if (!m_setup.request)
        return;
    const Expected<LaunchPreview> what = preview(*m_setup.request);
    if (what)
        showLongText(this, tr("What this run does"), fromUtf8(what->text));
    else
        showProblem(this, tr("This run cannot start"), what.error());
}

} // namespace fourfold::ui
