// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/find_dialog.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/plan/preset_model.h"
#include "app/models/shared/text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTimer>

namespace fourfold::ui {

namespace {
QFormLayout* makeForm()
{
    auto* form = new QFormLayout;
    form->setContentsMargins(0, 0, 0, 0);
    form->setHorizontalSpacing(px(12));
    form->setVerticalSpacing(px(6));
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    return form;
}

// The fields of all forms begin at one place.
void alignLabels(QFormLayout* form)
{
    constexpr int kWidth = 84;
    for (int row = 0; row < form->rowCount(); ++row) {
        QLayoutItem* label = form->itemAt(row, QFormLayout::LabelRole);
        if (label && label->widget())
            limitWidth(label->widget(), kWidth);
    }
}

QLineEdit* makeLine(const char* name, const QString& accessible, const QString& example)
{
    auto* line = named(new QLineEdit, name, accessible);
    line->setPlaceholderText(example);
    return line;
}
} // namespace

FindDialog::FindDialog(const Presets& presets, std::optional<Plan> open, int gpus, QWidget* parent)
    : QDialog(parent)
    , m_open(std::move(open))
    , m_gpus(gpus)
    , m_name(makeLine("findName", tr("Name of a host"), tr("node1, an SSH alias, alice@login")))
    , m_jumps(makeLine("findJumps", tr("Jump hosts"), tr("gate, bob@inner:2222; empty: as ssh has it")))
    , m_baseFolder(makeLine("findBaseFolder", tr("Base folder on the nodes"), tr("empty: the home folder")))
    , m_id(makeLine("findId", tr("Name to save it under"), {}))
    , m_account(makeLine("findAccount", tr("Slurm account"), tr("empty: the default")))
    , m_qos(makeLine("findQos", tr("Slurm quality of service"), tr("empty: the default")))
    , m_time(makeLine("findTime", tr("Slurm time limit"), tr("1:30:00; empty: the partition's")))
    , m_options(makeLine("findOptions", tr("Further options of sbatch"), tr("--mail-type=END")))
    , m_prelude(named(new QPlainTextEdit, "findPrelude", tr("Prelude: shell lines before the ranks")))
    , m_found(named(new QPlainTextEdit, "findFound", tr("What was found")))
    , m_slurm(named(new QCheckBox(tr("Through its queue (Slurm)")), "findSlurm"))
    , m_partition(makeChooser("findPartition", tr("Slurm partition"), 16))
    , m_like(makeChooser("findLike", tr("Cluster preset that it is taken for"), 16))
    , m_nodes(named(new QSpinBox, "findNodes", tr("Nodes of Slurm")))
    , m_said(named(makeWords("muted"), "findSaid"))
    , m_finder(std::make_unique<view::ClusterFinder>(
          presets, [this] { QMetaObject::invokeMethod(this, &FindDialog::receive, Qt::QueuedConnection); }))
{
    setObjectName(QStringLiteral("findCluster"));
    setWindowTitle(tr("Find a cluster"));
    m_found->setReadOnly(true);
    m_found->setTabChangesFocus(true);
    m_found->setPlaceholderText(tr("A host, an SSH alias or the login of a Slurm is enough: nodes, GPUs, links and "
                                   "partitions are looked for, nothing is run."));
    auto* left = columnOf({makeQuestions(), makeControls(presets), Item::spring()}, 12);
    const DialogButtons buttons = acceptOrCancel(this, tr("Save and plan on it"), "findTake");
    m_take = buttons.accept;
    m_measure = named(buttons.box->addButton(tr("Save and measure"), QDialogButtonBox::ActionRole), "findMeasure");
    m_measure->setToolTip(tr("The trainer runs on one node for about a minute; predictions then use what it measured"));
    auto* side = holderOf(left);
    fixWidth(side, 400);
    setLayout(columnOf({{rowOf({side, {m_found, 1}}, 14), 1}, m_said, buttons.box}, 10, {14, 14, 14, 12}));
    resizeDialog(this, 900, 620);

    m_finder->ask_host_key
        = [this](const HostKeyQuestion& question) { m_finder->answer_host_key(askHostKey(this, question)); };
    m_finder->ask_secret
        = [this](const SecretQuestion& question) { m_finder->answer_secret(askSecret(this, question)); };
    connect(m_look, &QPushButton::clicked, this, &FindDialog::look);
    connect(m_measure, &QPushButton::clicked, this, &FindDialog::measure);
    connect(m_name, &QLineEdit::textChanged, this, &FindDialog::showState);
    for (QLineEdit* line : {m_id, m_account, m_qos, m_time, m_options})
        connect(line, &QLineEdit::textChanged, this, &FindDialog::showState);
    connect(m_nodes, &QSpinBox::valueChanged, this, &FindDialog::showState);
    connect(m_partition, &QComboBox::currentIndexChanged, this, &FindDialog::showState);
    connect(m_like, &QComboBox::currentIndexChanged, this, &FindDialog::showState);
    connect(m_slurm, &QCheckBox::toggled, this, &FindDialog::showState);
    showState();
    m_name->setFocus();
}

FindDialog::~FindDialog() = default;

QWidget* FindDialog::makeQuestions()
{
    m_look = makeButton(tr("Look"), "plain", "findLook");
    m_prelude->setPlaceholderText(tr("module load cuda"));
    m_prelude->setTabChangesFocus(true);
    fixHeight(m_prelude, 52);
    auto* form = makeForm();
    form->addRow(tr("&Name"), rowOf({{m_name, 1}, m_look}, 6));
    static_cast<QLabel*>(form->labelForField(form->itemAt(0, QFormLayout::FieldRole)->layout()))->setBuddy(m_name);
    form->addRow(tr("&Jump hosts"), m_jumps);
    form->addRow(tr("&Base folder"), m_baseFolder);
    form->addRow(tr("&Prelude"), m_prelude);
    alignLabels(form);
    return holderOf(form);
}

QWidget* FindDialog::makeControls(const Presets& presets)
{
    m_like->addItem(tr("The best match"), QString());
    const PresetModel clusters(presets, PresetModel::Kind::clusters);
    for (int row = 0; row < clusters.rowCount(); ++row) {
        const QModelIndex at = clusters.index(row);
        m_like->addItem(at.data().toString(), at.data(PresetModel::IdRole));
    }
    m_nodes->setRange(1, 65536);
    auto* form = makeForm();
    form->addRow(tr("&Save as"), m_id);
    form->addRow(tr("&Taken as"), m_like);
    form->addRow(QString(), m_slurm);
    auto* queue = makeForm();
    queue->addRow(tr("Part&ition"), m_partition);
    queue->addRow(tr("N&odes"), m_nodes);
    queue->addRow(tr("&Account"), m_account);
    queue->addRow(tr("&QOS"), m_qos);
    queue->addRow(tr("Time &limit"), m_time);
    queue->addRow(tr("Options"), m_options);
    alignLabels(form);
    alignLabels(queue);
    m_queue = holderOf(queue);
    m_controls = holderOf(columnOf({form, m_queue}, 6));
    return m_controls;
}

void FindDialog::look()
{
    const Expected<void> asked = m_finder->look({m_name->text().toStdString(), m_jumps->text().toStdString(),
        m_baseFolder->text().toStdString(), m_prelude->toPlainText().toStdString()});
    m_found->clear();
    showState();
    if (!asked) {
        changeRole(m_said, QStringLiteral("bad"));
        m_said->setText(labelText(fromUtf8(asked.error().line())));
        askAgain();
    }
}

// The field had no focus while it was busy: what was typed wrong is typed anew at once.
void FindDialog::askAgain()
{
    m_name->setFocus();
    m_name->selectAll();
}

void FindDialog::receive()
{
    const bool wasFound = m_finder->found().has_value();
    if (!m_finder->receive())
        return;
    if (!wasFound && m_finder->found())
        fill();
    QStringList lines;
    for (const std::string& line : m_finder->lines())
        lines << fromUtf8(line);
    if (const QString text = lines.join(QLatin1Char('\n')); text != m_found->toPlainText())
        m_found->setPlainText(text);
    showState();
    if (!m_finder->is_busy() && !m_finder->found())
        askAgain();
}

void FindDialog::fill()
{
    const view::ClusterFinder::Controls first = m_finder->first_controls(m_gpus);
    const QSignalBlocker quiet[]{QSignalBlocker(m_id), QSignalBlocker(m_partition), QSignalBlocker(m_slurm),
        QSignalBlocker(m_nodes), QSignalBlocker(m_account), QSignalBlocker(m_qos), QSignalBlocker(m_time),
        QSignalBlocker(m_options), QSignalBlocker(m_like)};
    m_id->setText(fromUtf8(first.id));
    m_like->setCurrentIndex(0);
    m_slurm->setChecked(first.slurm);
    m_partition->clear();
    for (const FoundPartition& partition : m_finder->found()->partitions) {
        if (m_partition->findData(fromUtf8(partition.name)) < 0)
            m_partition->addItem(fromUtf8(partition.name), fromUtf8(partition.name)); // the rest stands beside it
    }
    m_partition->setCurrentIndex(m_partition->findData(fromUtf8(first.partition)));
    m_nodes->setValue(std::max(1, first.nodes));
    m_account->setText(fromUtf8(first.account));
    m_qos->setText(fromUtf8(first.qos));
    m_time->setText(fromUtf8(first.time));
    m_options->setText(fromUtf8(first.options));
}

view::ClusterFinder::Controls FindDialog::controls() const
{
    view::ClusterFinder::Controls out;
    out.id = m_id->text().toStdString();
    out.slurm = m_slurm->isChecked();
    out.partition = m_partition->currentData().toString().toStdString();
    out.account = m_account->text().toStdString();
    out.qos = m_qos->text().toStdString();
    out.time = m_time->text().toStdString();
    out.options = m_options->text().toStdString();
    out.nodes = m_nodes->value();
    out.like = m_like->currentData().toString().toStdString();
    return out;
}

void FindDialog::showState()
{
    const bool busy = m_finder->is_busy(), found = m_finder->found().has_value();
    const bool slurm = found && !m_finder->found()->partitions.empty();
    m_look->setEnabled(!busy && !m_name->text().trimmed().isEmpty());
    for (QWidget* field : std::initializer_list<QWidget*>{m_name, m_jumps, m_baseFolder, m_prelude})
        field->setEnabled(!busy);
    m_controls->setEnabled(found && !busy);
    m_slurm->setEnabled(slurm);
    m_queue->setEnabled(slurm && m_slurm->isChecked());
    QString role = QStringLiteral("muted"), text;
    bool ready = false;
    if (busy) {
        text = fromUtf8(m_finder->progress()) + QStringLiteral("\u2026");
    } else if (!m_finder->problem().empty()) {
        role = QStringLiteral("bad");
        text = fromUtf8(m_finder->problem());
    }
    if (!busy && found) {
        const Expected<std::string> outcome = m_finder->outcome(controls());
        ready = outcome.has_value();
        if (text.isEmpty()) {
            text = fromUtf8(outcome ? *outcome : outcome.error().line());
            role = outcome ? QStringLiteral("normal") : QStringLiteral("bad");
        }
    }
    changeRole(m_said, role);
    m_said->setText(labelText(text));
    layout()->activate(); // it may have more lines now
    m_take->setEnabled(ready);
    m_measure->setEnabled(ready);
    m_take->setDefault(ready);
    m_look->setDefault(!ready);
}

bool FindDialog::save()
{
    const Expected<void> saved = m_finder->save(controls());
    if (saved)
        return true;
    changeRole(m_said, QStringLiteral("bad"));
    m_said->setText(labelText(fromUtf8(saved.error().line())));
    return false;
}

void FindDialog::measure()
{
    if (m_finder->is_busy() || !save())
        return;
    const Expected<void> measuring = m_finder->measure(m_open);
    showState();
    if (!measuring) {
        changeRole(m_said, QStringLiteral("bad"));
        m_said->setText(labelText(fromUtf8(measuring.error().line())));
    }
}

// What was measured since belongs to what was saved then.
void FindDialog::accept()
{
    if (m_finder->is_busy() || !m_finder->found() || !save())
        return;
    QDialog::accept();
}

void FindDialog::reject()
{
    m_finder->stop();
    QDialog::reject();
}

} // namespace fourfold::ui
