// SPDX-License-Identifier: GPL-3.0-or-later
// Text of plans, nodes and stored runs in the window: markup and control characters in it are shown, never obeyed, and
// a spreadsheet runs none of what is copied.
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/dialogs/report_export.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/pages/plan/config/config_panel.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/table_model.h"
#include "core/history/annotations.h"
#include "core/history/store.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QBarCategoryAxis>
#include <QChartView>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QStatusBar>
#include <QTabBar>
#include <QTextBrowser>
#include <QToolTip>

using namespace fourfold;
using namespace fourfold::ui;
using test::kPatience;

namespace {
const char* const kMarkup = "<b>evil</b><img src='/etc/passwd'>";
// As JSON: colours, a title, C1, text that runs backwards, a line end of Unicode.
const char* const kEscapes = R"(\u001b[31m\u001b]0;title\u0007\u009b31m\u202e\u061c\u200f\u2066\u2028\u007f)";

QByteArray evilText()
{
    return QByteArray(kMarkup) + kEscapes;
}

QByteArray evilPlan()
{
    return QByteArray(R"({
  "fourfold_plan": 1, "name": "EVIL plan", "cluster": "tsubame4", "gpus": 16, "stack": "megatron-lm",
  "model": { "name": "EVIL model", "model_type": "llama", "hidden_size": 2048, "intermediate_size": 4096,
             "num_hidden_layers": 8, "num_attention_heads": 16, "vocab_size": 32000, "max_position_embeddings": 4096 },
  "layout": { "tp": 2, "cp": 1, "pp": 1, "dp": 8 },
  "training": { "seq_len": 4096, "micro_batch": 1, "global_batch": 64 }
})")
        .replace("EVIL", evilText());
}

bool isObeyed(QChar c)
{
    const ushort code = c.unicode();
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) || code == 0x61c
        || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

// What a person reads of a widget, and what is read to them.
QStringList textsOf(const QWidget* widget)
{
    QStringList texts{widget->windowTitle(), widget->toolTip(), widget->statusTip(), widget->whatsThis(),
        widget->accessibleName(), widget->accessibleDescription()};
    for (const QAction* action : widget->actions())
        texts << action->text() << action->toolTip() << action->statusTip();
    if (const auto* label = qobject_cast<const QLabel*>(widget))
        texts << label->text();
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
        texts << button->text();
    if (const auto* line = qobject_cast<const QLineEdit*>(widget))
        texts << line->text() << line->placeholderText();
    if (const auto* text = qobject_cast<const QPlainTextEdit*>(widget))
        texts << text->toPlainText();
    if (const auto* status = qobject_cast<const QStatusBar*>(widget))
        texts << status->currentMessage();
    if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) {
        for (int i = 0; i < tabs->count(); ++i)
            texts << tabs->tabText(i) << tabs->tabToolTip(i);
    }
    if (const auto* box = qobject_cast<const QComboBox*>(widget)) {
        for (int i = 0; i < box->count(); ++i)
            texts << box->itemText(i);
    }
    const auto* view = qobject_cast<const QAbstractItemView*>(widget);
    if (view && view->model()) {
        const QAbstractItemModel& model = *view->model();
        for (int column = 0; column < model.columnCount(); ++column) {
            texts << model.headerData(column, Qt::Horizontal).toString();
            for (int row = 0; row < model.rowCount(); ++row)
                texts << model.index(row, column).data().toString()
                      << model.index(row, column).data(Qt::ToolTipRole).toString();
        }
    }
    return texts;
}

struct Fixture : test::WindowFixture {
    // What is wrong with all that the program shows; counts the texts that hold `evil`.
    QString faults()
    {
        QStringList wrong;
        evil = 0;
        for (const QWidget* widget : QApplication::allWidgets()) {
            const QString who = QStringLiteral("%1 %2: ").arg(
                QString::fromLatin1(widget->metaObject()->className()), widget->objectName());
            for (const QString& text : textsOf(widget)) {
                evil += text.contains(QStringLiteral("evil")) ? 1 : 0;
                if (std::any_of(text.begin(), text.end(), isObeyed))
                    wrong << who + QStringLiteral("control characters in ") + text;
            }
            const auto* label = qobject_cast<const QLabel*>(widget);
            if (!label)
                continue;
            label->ensurePolished();
            if (label->textFormat() == Qt::AutoText)
                wrong << who + QStringLiteral("obeys markup: ") + label->text();
            else if (label->textFormat() != Qt::PlainText && label->text().contains(QStringLiteral("<img")))
                wrong << who + QStringLiteral("holds foreign markup: ") + label->text();
        }
        return wrong.join(QLatin1Char('\n'));
    }
    int evil = 0;
};

void storeEvilRun(const std::filesystem::path& file)
{
    QFile::remove(QString::fromStdString(file.string()));
    Expected<HistoryStore> store = HistoryStore::open(file);
    QVERIFY2(store, store ? "" : store.error().line().c_str());
    const std::string evil = Json::parse("\"" + evilText().toStdString() + "\"").get<std::string>();
    NewRun run;
    run.id = "01EVIL";
    run.name = run.target = run.stack = evil;
    run.plan_hash = "aa";
    run.layout_hash = "bb";
    run.plan = Json::parse(evilPlan().toStdString());
    run.plan["cluster"] = {{"name", evil}};
    run.prediction = {{"feasible", true}, {"tps_per_gpu", 110.0}, {"step_time_s", 2.0}, {"memory_gib", 1.5}};
    run.hosts = {evil};
    run.environment = {{"EVIL", evil}};
    QVERIFY(store->create_run(run));
    const auto line = [](int seq, Json event) {
        event["seq"] = seq;
        event["time"] = "2026-01-01T00:00:00.000Z";
        return event.dump();
    };
    QVERIFY(store->append_events("01EVIL", "events",
        {line(0, {{"event", "start"}, {"software", {{evil, evil}}}, {"hardware", {{"gpu", evil}}}}),
            line(1, {{"event", "step"}, {"step", 1}, {"tps_per_gpu", 100}, {"step_time_s", 2.0}, {"loss", 3.0}}),
            line(2,
                {{"event", "error"}, {"rank", 0}, {"message", evil}, {"host", evil}, {"log", Json::array({evil})},
                    {"coordinates", {{evil, 0}}}, {"last_collective", evil}}),
            line(3, {{"event", "end"}, {"status", "fail"}, {"message", evil}})}));
    QVERIFY(set_note(*store, "01EVIL", evil));
}
} // namespace

class ForeignTextTest : public QObject {
    Q_OBJECT
private slots:
    void ofAPlanIsShownAsItIs()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("evil.plan.json"), evilPlan()));
        QVERIFY(w.answered());
        for (const QString& page : {QStringLiteral("plan"), QStringLiteral("search"), QStringLiteral("compare"),
                 QStringLiteral("runs"), QStringLiteral("history")}) {
            w.window.showPage(page);
            QCoreApplication::processEvents();
            const QString wrong = w.faults();
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
            QVERIFY(w.evil > 0);
        }
    }

    // Words without end are cut where they would widen the window.
    void ofAnyLengthKeepsTheWindowAsItIs()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("plain.plan.json")));
        QVERIFY(w.answered());
        const QSize least = w.window.minimumSizeHint();
        QByteArray plan = test::clusterPlan();
        plan.replace("notes_of_mine", QByteArray(1500, 'k')).replace("Llama 3.1 8B on 16 H100", QByteArray(3000, 'N'));
        QVERIFY(w.open(QStringLiteral("long.plan.json"), plan));
        QVERIFY(w.answered());
        QTest::qWait(20); // laid out
        QCOMPARE(w.window.minimumSizeHint().width(), least.width());
        plan.replace("\"llama-3.1-8b\"", '"' + QByteArray(2000, 'm') + '"');
        QVERIFY(w.open(QStringLiteral("unknown.plan.json"), plan));
        QTest::qWait(20);
        QCOMPARE(w.window.minimumSizeHint().width(), least.width());
    }

    // A plan that does not resolve, in the place of one that does: nothing of that one is shown for it.
    void aBrokenPlanHasNoFiguresOfTheOneBefore()
    {
        Fixture w;
        w.window.openStartPlan();
        QVERIFY(w.answered());
        const int tabs = w.window.plans().count();
        QVERIFY(w.open(QStringLiteral("broken.plan.json"), test::clusterPlan().replace("llama-3.1-8b", "lama-3.1-8b")));
        QCOMPARE(w.window.plans().count(), tabs);
        QVERIFY(!w.document().lastResolved());
        QVERIFY(w.document().prediction() == nullptr);
        QTest::qWait(50); // what was still under way has come
        QVERIFY(w.document().prediction() == nullptr);
    }

    // A plan of a model that nobody has: why stands on the page, and the form shows no values that are not the plan's.
    void anUnknownModelIsSaidAndNothingElseIsShownForIt()
    {
        Fixture w;
        QVERIFY(w.open(QStringLiteral("plain.plan.json")));
        QVERIFY(w.answered());
        QVERIFY(
            w.open(QStringLiteral("unknown.plan.json"), test::clusterPlan().replace("llama-3.1-8b", "lama-3.1-8b")));
        QVERIFY(!w.document().lastResolved());
        const ConfigPanel& panel = *w.window.planPage().findChild<ConfigPanel*>();
        for (const QComboBox* box : panel.findChildren<QComboBox*>())
            QVERIFY2(box->currentText().isEmpty(), qPrintable(box->objectName() + box->currentText()));
        for (const QSpinBox* box : panel.findChildren<QSpinBox*>())
            QVERIFY2(box->cleanText().isEmpty(), qPrintable(box->objectName() + box->text()));
        auto* warning = w.window.planPage().findChild<QLabel*>(QStringLiteral("warningText"));
        QVERIFY2(warning->text().contains(QStringLiteral("lama-3.1-8b")), qPrintable(warning->text()));
        for (const QLabel* label : w.window.statusBar()->findChildren<QLabel*>())
            QVERIFY2(!label->text().contains(QStringLiteral("valuated")), qPrintable(label->text()));
        // Another model is the cure, and all is there again.
        auto* models = panel.findChild<QComboBox*>(QStringLiteral("model"));
        QVERIFY(test::choose(*models, QStringLiteral("Llama 3.1 8B")));
        QVERIFY(w.answered());
        QCOMPARE(panel.findChild<QSpinBox*>(QStringLiteral("layout.tp"))->cleanText(), QStringLiteral("2"));
        QCOMPARE(panel.findChild<QSpinBox*>(QStringLiteral("layout.cp"))->cleanText(), QStringLiteral("1"));
        QVERIFY(!warning->text().contains(QStringLiteral("lama-3.1-8b")));
    }

    void ofAStoredRunIsShownAsItIs()
    {
        storeEvilRun(Fixture::historyFile());
        Fixture w;
        w.window.showPage(QStringLiteral("history"));
        auto* table = w.child<QTableView>("history");
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 1, kPatience);
        table->selectRow(0);
        auto* note = w.child<QPlainTextEdit>("runNote");
        QTRY_VERIFY_WITH_TIMEOUT(!note->toPlainText().isEmpty(), kPatience);
        QString wrong = w.faults();
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        QVERIFY(w.evil > 10);
        w.window.showPage(QStringLiteral("compare"));
        const test::DialogWatch watch([](QMessageBox&) {});
        w.window.comparePage().addRun(QStringLiteral("01EVIL"));
        QCoreApplication::processEvents();
        wrong = w.faults();
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        QFile::remove(QString::fromStdString(Fixture::historyFile().string()));
    }

    void ofAMessageIsShownAsItIs()
    {
        Fixture w;
        const QString evil = QString::fromUtf8(kMarkup);
        w.window.banner().say(view::Tone::warning, evil);
        int boxes = 0;
        test::DialogWatch watch([&](QMessageBox& box) {
            ++boxes;
            for (const QLabel* label : box.findChildren<QLabel*>()) {
                if (label->text().contains(QStringLiteral("evil")))
                    QCOMPARE(label->textFormat(), Qt::PlainText);
            }
        });
        showProblem(&w.window, evil, {ProblemCode::failed, kMarkup, kMarkup, kMarkup});
        askToSave(&w.window, evil);
        QCOMPARE(boxes, 2);
        const QString wrong = w.faults();
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        QVERIFY(w.evil > 0);
    }

    // A part of a path that is longer than a line of the box would be cut at its edge.
    void ofAMessageOfAnyLengthIsReadWhole()
    {
        Fixture w;
        const std::string longest(255, 'n');
        int boxes = 0;
        QString read, cut;
        test::DialogWatch watch([&](QMessageBox& box) {
            ++boxes;
            cut = test::unreadableTexts(box).join(QLatin1Char('\n'));
            for (const QLabel* label : box.findChildren<QLabel*>())
                read += label->text() + QLatin1Char('\n');
        });
        showProblem(&w.window, QStringLiteral("x"),
            {ProblemCode::failed, "found " + longest, longest, "/a/folder/" + longest + "/plan.json"});
        QCOMPARE(boxes, 1);
        QCOMPARE(cut, QString());
        QVERIFY2(read.contains(QStringLiteral("Where: /a/folder/nnn")), qPrintable(read));
        QVERIFY2(read.contains(QStringLiteral("/plan.json")), qPrintable(read));
    }

    // Qt takes a tool tip for HTML when it looks like it.
    void ofAToolTipIsShownAsItIs()
    {
        Fixture w;
        QToolTip::showText(w.window.mapToGlobal(QPoint(50, 50)), QString::fromUtf8(kMarkup), &w.window);
        int tips = 0;
        for (const QWidget* widget : QApplication::topLevelWidgets()) {
            const auto* label = qobject_cast<const QLabel*>(widget);
            if (!label || !label->text().contains(QStringLiteral("evil")))
                continue;
            ++tips;
            QCOMPARE(label->textFormat(), Qt::PlainText);
        }
        QCOMPARE(tips, 1);
        QToolTip::hideText();
    }

    // The axes of Qt Charts set their labels as HTML.
    void ofAChartIsShownAsItIs()
    {
        ComparisonChart chart(QStringLiteral("Chart"), {});
        chart.resize(900, 400);
        chart.showBars({QStringLiteral("<i>a</i>"), QStringLiteral("b & c")},
            {{QStringLiteral("Predicted"), &Theme::forward, Card::Fill::solid, {100, 200}}}, false,
            QStringLiteral("s"));
        chart.show();
        const auto* view = chart.findChild<QChartView*>();
        QVERIFY(view);
        const auto axes = view->chart()->axes(Qt::Horizontal);
        QCOMPARE(axes.size(), 1);
        auto* names = qobject_cast<QBarCategoryAxis*>(axes.front());
        QVERIFY(names);
        QCOMPARE(names->categories(),
            (QStringList{QStringLiteral("1 &lt;i&gt;a&lt;/i&gt;"), QStringLiteral("2 b &amp; c")}));
    }

    void isNoFormulaOnTheClipboard()
    {
        Table table;
        table.columns = {{"name", "=name"}, {"error", "Error", 1, 100, " %"}, {"note", "Note"}};
        table.rows = {{"=cmd|' /C calc'!A0", -0.035, "two\tcells\nand lines"}, {"@x", Cell(), "-2+3|x"}};
        const QString expected = QStringLiteral(
            "'=name\tError\tNote\n'=cmd|' /C calc'!A0\t-3.5 %\ttwo cells and lines\n'@x\t-\t'-2+3|x\n");
        copyTable(table);
        QCOMPARE(QApplication::clipboard()->text(), expected);
        const QString html = QApplication::clipboard()->mimeData()->html();
        QVERIFY2(html.contains(QStringLiteral("<td>&#39;=cmd")) || html.contains(QStringLiteral("<td>'=cmd")),
            qPrintable(html));
        TableModel model(table);
        DataTable view;
        view.setModel(&model);
        QCOMPARE(view.selectionAsText(), expected);
    }
};

int main(int argc, char** argv)
{
    return test::runTests<ForeignTextTest>(argc, argv);
}

#include "foreign_text_test.moc"
