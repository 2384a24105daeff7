// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/truth_test.h"

#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/runs/run_form.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/cards/bounds_view.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/memory_bars.h"
#include "app/desktop/widgets/charts/step_split.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/desktop/widgets/panels/warning_bar.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/plan/plan_journal.h"
#include "app/models/plan/plan_watch.h"
#include "app/models/search/results_model.h"
#include "app/models/shared/text.h"
#include "app/view/answer.h"
#include "app/view/plan/edits.h"
#include "core/plan/fields.h"
#include "core/predict/explain.h"
#include "core/report/views/nearest_row.h"
#include "runner/target/room.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
// 126 layers in 80 chunks: Megatron-LM stops, and the command warns of it.
QByteArray warnedPlan()
{
    return R"({ "fourfold_plan": 1, "name": "405B", "model": "llama-3.1-405b", "cluster": "dgx-h100", "gpus": 512,
  "stack": "megatron-lm", "layout": { "tp": 8, "pp": 16, "virtual_stages": 5, "dp": 4 },
  "training": { "seq_len": 8192, "micro_batch": 1, "global_batch": 512, "precision": "bf16" } })";
}

// Every leaf of a JSON value by its path.
void leavesOf(const Json& json, const std::string& path, std::map<std::string, Json>& leaves)
{
    if (json.is_object() && !json.empty()) {
        for (const auto& [key, value] : json.items())
            leavesOf(value, path.empty() ? key : path + "." + key, leaves);
    } else if (json.is_array() && !json.empty() && !json.front().is_string()) {
        for (std::size_t i = 0; i < json.size(); ++i)
            leavesOf(json[i], path + "." + std::to_string(i), leaves);
    } else {
        leaves[path] = json;
    }
}

void writeOver(const std::filesystem::path& file, const char* from, const char* to)
{
    QByteArray text = test::readFile(QString::fromStdString(file.string()));
    QVERIFY(text.contains(from));
    QVERIFY(write_file_atomically(file, text.replace(from, to).toStdString()));
}
} // namespace

// Each key of the command's answer has its words here; one that is new and shown nowhere fails.
void TruthTest::everyFigureOfTheCommandIsOnThePlanPage_data()
{
    QTest::addColumn<QByteArray>("plan");
    QTest::newRow("fits") << test::clusterPlan();
    QTest::newRow("warned") << warnedPlan();
    QByteArray fp8 = test::clusterPlan();
    QTest::newRow("fp8") << fp8.replace("\"bf16\"", "\"fp8\"");
}

void TruthTest::everyFigureOfTheCommandIsOnThePlanPage()
{
    QFETCH(QByteArray, plan);
    test::WindowFixture w;
    QVERIFY(w.open(QStringLiteral("truth.plan.json"), plan) && w.answered());
    const Prediction& prediction = *w.document().prediction();
    QString texts = w.window.planPage().findChild<WarningBar*>()->text() + QLatin1Char('\n');
    for (const FigureCard* card : w.window.planPage().figures()) {
        const view::Figure& figure = card->figure();
        for (const std::string& text :
            {figure.title, figure.value, figure.unit, figure.basis, figure.confidence, figure.detail})
            texts += fromUtf8(text) + QLatin1Char('\n');
    }
    const view::Verdict verdict = view::verdict_of(prediction);
    for (const QLabel* label : w.window.findChildren<QLabel*>())
        texts += label->text() + QLatin1Char('\n');
    const Table memory = w.window.planPage().findChild<MemoryBars*>()->table();
    const Table split = w.window.planPage().findChild<StepSplit*>()->table();
    const auto says = [&](const QString& text) { return !text.isEmpty() && texts.contains(text); };
    const auto holds = [](const Table& table, const std::string& column, double value) {
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            for (const std::vector<Cell>& row : table.rows) {
                const double* cell = std::get_if<double>(&row[i]);
                if (table.columns[i].key.starts_with(column) && cell
                    && std::abs(*cell - value) <= 1e-9 * std::abs(value))
                    return true;
            }
        }
        return value == 0; // nothing is drawn of nothing
    };
    std::map<std::string, std::function<bool(double)>> numbers{
        {"step_time_s", [&](double v) { return says(fromUtf8(view::duration_parts(v).value)); }},
        {"tps_per_gpu", [&](double v) { return says(throughputText(v)); }},
        {"tflops_per_gpu", [&](double v) { return says(tr("%1 TFLOP/s as logged").arg(compact(v))); }},
        {"mfu", [&](double v) { return says(percent(v)); }},
        {"mfu_bf16_peak", [&](double v) { return says(percent(v)); }},
        {"mfu_causal", [&](double v) { return says(percent(v) + QStringLiteral(" % with half")); }},
        {"bubble_fraction", [&](double v) { return says(percent(v)); }},
        {"memory_gib", [&](double v) { return says(gib(v)); }},
        {"memory_device_gib", [&](double v) { return says(gib(v) + QStringLiteral(" of")); }},
        {"memory_capacity_gib", [&](double v) { return says(gib(v) + QStringLiteral(" usable")); }},
        {"interval.confidence", [&](double v) { return says(percent(v, 0) + QStringLiteral(" %:")); }},
        {"roofline.step_time_s", [&](double v) { return says(duration(v)); }}};
    for (const int end : {0, 1}) {
        const std::string at = "." + std::to_string(end);
        numbers["interval.step_time_s" + at] = [&](double v) { return says(duration(v)); };
        numbers["interval.tps_per_gpu" + at] = [&](double v) { return says(throughputText(v)); };
        numbers["interval.memory_gib" + at] = [&](double v) { return says(gib(v)); };
    }
    std::map<std::string, Json> leaves;
    leavesOf(to_json(prediction), "", leaves);
    for (const auto& [path, value] : leaves) {
        const std::string first = path.substr(0, path.find('.')), last = path.substr(path.rfind('.') + 1);
        bool shown = false;
        if (value.is_null() || first == "plan") // what was asked: the configuration at the left
            shown = true;
        else if (first == "bounds")
            shown = w.window.planPage().findChild<BoundsView*>() != nullptr; // a picture of its own
        else if (first == "memory_by_stage")
            shown = last == "stage" || holds(memory, last == "other" ? "buffers" : last, value.get<double>());
        else if (first == "time_by_part")
            shown = holds(split, "exposed_s", value.get<double>());
        else if (first == "time_hidden")
            shown = holds(split, "hidden_s", value.get<double>());
        else if (const auto number = numbers.find(path); number != numbers.end())
            shown = number->second(value.get<double>());
        else if (path == "feasible" || path == "fit" || first == "reasons")
            shown = says(fromUtf8(verdict.word).chopped(1));
        else if (first == "nearest_measured")
            shown = says(fromUtf8(nearest_row_text(*prediction.nearest)));
        else if (path == "evidence")
            shown = says(fromUtf8(view::evidence_text(prediction.evidence)));
        else if (path == "roofline.limit" || path == "roofline.reached")
            shown = says(tr("roofline"));
        else if (path == "warnings") {
            shown = true;
            for (const Json& warning : value)
                shown = shown && says(fromUtf8(warning.get<std::string>()));
        }
        QVERIFY2(shown, ("the window does not show " + path + " = " + value.dump()).c_str());
    }
}

void TruthTest::warningsAreInSearchRowsComparisonsAndTheRunForm()
{
    test::WindowFixture w;
    QVERIFY(w.open(QStringLiteral("warned.plan.json"), warnedPlan()) && w.answered());
    const QString words = QStringLiteral("stops where 80 chunks do not divide 126 layers");
    QVERIFY(w.child<QLabel>("warningText")->text().startsWith(QStringLiteral("Warning: ")));
    QVERIFY(w.window.planPage().findChild<WarningBar*>()->text().contains(words));
    w.window.showPage(QStringLiteral("compare"));
    auto* table = w.child<QTableView>("comparison");
    QTRY_VERIFY(table->model()->columnCount() > 1);
    QStringList column;
    for (int row = 0; row < table->model()->rowCount(); ++row)
        column << table->model()->index(row, 1).data().toString();
    QVERIFY2(column.join(QLatin1Char('\n')).contains(words), qPrintable(column.join(QLatin1Char('\n'))));

    ResultRow row;
    row.warned = true;
    row.found.figures.memory_device_gib = 1;
    ResultsModel results;
    results.append({row});
    results.setWarnings([](const FoundLayout&) { return std::vector<std::string>{"of this row"}; });
    const QModelIndex cell = results.index(0, ResultsModel::confidence);
    QVERIFY(cell.data().toString().startsWith(QChar(0x26a0)));
    QVERIFY(cell.data(Qt::ToolTipRole).toString().contains(QStringLiteral("Warning: of this row")));
    QVERIFY(cell.data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("with warnings")));

    // An environment variable of unknown effect: a plan that can run, with a warning.
    QByteArray tiny = test::tinyPlan(10, 1);
    tiny.replace("\"FAKE_STEP_MS\"", "\"NCCL_ALGO\": \"Ring\", \"FAKE_STEP_MS\"");
    QVERIFY(w.open(QStringLiteral("tiny.plan.json"), tiny) && w.answered());
    const auto& warnings = w.document().prediction()->warnings;
    w.window.showPage(QStringLiteral("runs"));
    const QString said = w.child<QLabel>("message")->text();
    for (const std::string& warning : warnings)
        QVERIFY2(said.contains(fromUtf8(warning)), qPrintable(said));
}

void TruthTest::aRunThatThisComputerCannotHoldDoesNotStart()
{
    test::WindowFixture w;
    QByteArray plan = warnedPlan();
    plan.replace("512,\n", "16384,\n")
        .replace("\"dp\": 4", "\"dp\": 128")
        .replace("\"global_batch\": 512", "\"global_batch\": 2048");
    plan.replace("\"bf16\" } }", "\"bf16\" }, \"run\": { \"steps\": 10, \"data\": [ { \"path\": \"x.bin\" } ] } }");
    QVERIFY(w.open(QStringLiteral("large.plan.json"), plan) && w.answered());
    w.window.showPage(QStringLiteral("runs"));
    QVERIFY(!w.child<QPushButton>("start")->isEnabled());
    const QString said = w.child<QLabel>("message")->text();
    const char* expected = room_here().gpus ? "this computer cannot hold the plan: 16384 ranks"
                                            : "the plan is for GPUs (NVIDIA DGX H100, 8 x H100 80GB)";
    QVERIFY2(said.contains(QLatin1String(expected)), qPrintable(said));
}

void TruthTest::aPlanThatChangedOnDiskIsNotOverwritten()
{
    test::WindowFixture w;
    QVERIFY(w.open(QStringLiteral("disk.plan.json")) && w.answered());
    const std::filesystem::path file = w.document().file();
    // Without changes of its own it follows the file.
    writeOver(file, "\"micro_batch\": 1", "\"micro_batch\": 2");
    QTRY_VERIFY(value_at(w.document().plan().document, "training.micro_batch") == Json(2));
    QVERIFY(!w.document().isDirty());

    // With them it asks.
    w.document().setValue("training.global_batch", 512, QStringLiteral("Change"));
    writeOver(file, "\"micro_batch\": 2", "\"micro_batch\": 4");
    QTRY_VERIFY(w.window.banner().isVisible());
    QVERIFY(w.window.banner().text().contains(QStringLiteral("changed on disk")));
    const auto press = [&](const QString& text) {
        for (QPushButton* button : w.window.banner().findChildren<QPushButton*>()) {
            if (button->text() == text)
                return button->click(), true;
        }
        return false;
    };
    {
        const test::DialogWatch refuse([](QMessageBox& box) { box.button(QMessageBox::Cancel)->click(); });
        QTest::keyClick(&w.window, Qt::Key_S, Qt::ControlModifier);
        QCOMPARE(refuse.seen(), 1);
        QVERIFY(test::readFile(QString::fromStdString(file.string())).contains("\"micro_batch\": 4"));
    }
    QVERIFY(press(QStringLiteral("Compare")));
    QCOMPARE(w.window.plans().count(), 2);
    QVERIFY(value_at(w.window.plans().document(1).plan().document, "training.micro_batch") == Json(4));
    w.document().keepMine();
    QVERIFY(w.document().isDirty());
    w.window.activateWindow(); // after a dialog
    QVERIFY(QTest::qWaitForWindowActive(&w.window));
    QTest::keyClick(&w.window, Qt::Key_S, Qt::ControlModifier); // no question: it was answered
    QVERIFY(!w.document().isChangedOnDisk());
    QVERIFY(test::readFile(QString::fromStdString(file.string())).contains("\"global_batch\": 512"));
}

void TruthTest::compareLetsGoOfAnOpenPlan()
{
    test::WindowFixture w;
    QVERIFY(w.open(QStringLiteral("one.plan.json")) && w.answered());
    QVERIFY(w.open(QStringLiteral("two.plan.json")) && w.answered());
    w.window.showPage(QStringLiteral("compare"));
    auto* list = w.child<QListWidget>("compareList");
    QTRY_COMPARE(list->count(), 2);
    list->setCurrentRow(0);
    QVERIFY(w.child<QPushButton>("compareRemove")->isEnabled());
    test::click(*w.child<QPushButton>("compareRemove"));
    QTRY_COMPARE(list->count(), 1);
    QVERIFY(list->item(0)->text().contains(QStringLiteral("two")));
    QVERIFY(test::clickMenu(*w.child<QPushButton>("compareAdd"), {QStringLiteral("Open plan: one.plan.json")}));
    QTRY_COMPARE(list->count(), 2);
}

void TruthTest::aJournalThatCannotBeKeptIsTold()
{
    const Presets presets;
    PlanTabs tabs(presets);
    const QString file = test::Home::the().write(QStringLiteral("no-folder"), "a file where a folder is wanted");
    PlanJournal journal(tabs, std::filesystem::path(file.toStdString()) / "journal");
    QSignalSpy failed(&journal, &PlanJournal::failed);
    tabs.current().reset(*parse_plan(test::clusterPlan().toStdString(), ""));
    tabs.current().markUnsaved();
    journal.flush();
    journal.flush();
    QCOMPARE(failed.count(), 1); // once
}

// "4" and "412" are values on the way to 412.5: the box must not be rewritten under the fingers.
void TruthTest::aBandwidthIsTypedAsItIs()
{
    test::WindowFixture w;
    QVERIFY(w.open(QStringLiteral("typed.plan.json")) && w.answered());
    for (QDoubleSpinBox* box : w.window.planPage().findChildren<QDoubleSpinBox*>()) {
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, QStringLiteral("412.5"));
        QTest::keyClick(box, Qt::Key_Return);
        QCOMPARE(box->value(), 412.5);
        box->clearFocus();
        QVERIFY2(box->text().startsWith(QStringLiteral("412.5 ")), qPrintable(box->text()));
    }
    QCOMPARE(w.document().resolved()->cluster.inter_node.bandwidth_gb_s, 412.5);
}

void TruthTest::aBarOpensItsOwnDerivation()
{
    test::WindowFixture w;
    QVERIFY(w.open(QStringLiteral("bar.plan.json"), warnedPlan()) && w.answered());
    const Prediction& prediction = *w.document().prediction();
    const Explanation bar = explain_span(prediction, SpanKind::forward, 0.989);
    QCOMPARE(*bar.value, 0.989);
    double sum = 0;
    std::set<std::string> labels;
    for (const Explanation& child : bar.children) {
        sum += *child.value;
        QVERIFY2(labels.insert(child.label + child.formula).second, child.label.c_str()); // once, not per chunk
    }
    QVERIFY(std::abs(sum - 0.989) < 1e-9);
    const Expected<Explanation> step = explain(prediction, "step_time_s");
    for (const Explanation& part : step->children) {
        std::set<std::string> once;
        for (const Explanation& child : part.children)
            QVERIFY2(once.insert(child.label + child.formula).second, child.label.c_str());
    }
    emit w.window.planPage().timeline().barActivated(SpanKind::forward, 0.989);
    auto* dialog = w.window.findChild<DerivationDialog*>();
    QVERIFY(dialog);
    QVERIFY(dialog->windowTitle().contains(QStringLiteral("bar")));
}

void TruthTest::theWindowComesBackFromAZoom()
{
    test::WindowFixture w({}, {1440, 900});
    QVERIFY(w.open(QStringLiteral("zoom.plan.json")) && w.answered());
    const QSize before = w.window.size();
    w.window.setUiZoom(250);
    QTest::qWait(50); // it has grown by now, if it must
    w.window.setUiZoom(100);
    QTRY_COMPARE(w.window.size(), before);
}

int main(int argc, char** argv)
{
    return test::runTests<TruthTest>(argc, argv);
}
