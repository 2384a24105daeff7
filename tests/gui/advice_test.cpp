// SPDX-License-Identifier: GPL-3.0-or-later
// What would help: found by itself, applied by one click or Enter, taken back by undo; and derivations on hover.
#include "app/desktop/command_palette.h"
#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/dialogs/fields_dialog.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/widgets/cards/advice_view.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/charts/memory_bars.h"
#include "app/desktop/widgets/panels/advice_bar.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/text.h"
#include "app/view/plan/any_field.h"
#include "app/view/plan/edits.h"
#include "core/plan/fields.h"
#include "core/search/edits.h"
#include "core/search/plan_budget.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStatusBar>
#include <QTableView>

#include <set>

using namespace fourfold;
using namespace fourfold::ui;
using test::kPatience;
using test::WhenDialog;

namespace {
struct Fixture : test::WindowFixture {
    Fixture() { open(QStringLiteral("advice.plan.json")); }
    AdviceFinder& advice() { return window.planPage().advice(); }
    bool advised()
    {
        return answered() && QTest::qWaitFor([this] { return advice().report().has_value(); }, kPatience);
    }
    // On one GPU without sharding: more than there is.
    void makeTooLarge()
    {
        document().setValue("training.sharding", "none", QStringLiteral("Change"));
        document().setValue("layout.tp", 1, QStringLiteral("Change"));
        document().setValue("training.micro_batch", 8, QStringLiteral("Change"));
    }
};
} // namespace

class AdviceTest : public QObject {
    Q_OBJECT
private slots:
    void aPlanThatDoesNotFitIsMadeToFitByOneClick()
    {
        Fixture w;
        w.makeTooLarge();
        QVERIFY(w.advised());
        QCOMPARE(w.document().prediction()->fit, Fit::no);
        QVERIFY(!w.advice().report()->to_fit.empty());
        const QString text = w.window.planPage().findChild<AdviceBar*>()->text();
        QVERIFY2(text.startsWith(QStringLiteral("Does not fit.")), qPrintable(text));
        const Json before = w.document().plan().document;
        QTest::mouseClick(w.child<QPushButton>("applyAdvice"), Qt::LeftButton);
        QVERIFY(w.document().plan().document != before);
        QVERIFY(w.answered());
        QVERIFY(w.document().prediction()->fit != Fit::no);
        w.document().undoStack().undo();
        QVERIFY(w.document().plan().document == before);
    }

    // What advice can put, a hand can put: each field that any edit changes, on plans that have all kinds of edits.
    void everyFieldThatAdviceChangesHasAControl()
    {
        Fixture w;
        std::set<std::string> paths;
        for (const char* text : {R"({"model": "mixtral-8x7b", "cluster": "dgx-h100", "gpus": 64, "stack": "torchtitan",
                 "layout": {"tp": 2, "cp": 2, "pp": 4, "ep": 2}, "training": {"sharding": "parameters", "recompute": "full",
                 "optimizer": "adamw", "attention": "unfused", "seq_len": 8192, "global_batch": 128}})",
                 R"({"model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 16, "stack": "megatron-core",
                 "layout": {"tp": 4, "pp": 2}, "training": {"sharding": "none", "optimizer": "adam",
                 "sequence_parallel": false, "overlap": {"grad_reduce": false, "param_gather": false, "p2p": false}}})"}) {
            const auto plan = parse_plan(text, "plan");
            const auto resolved = plan ? resolve(*plan, Presets()) : Expected<ResolvedPlan>(plan.error());
            QVERIFY2(resolved, resolved ? "" : resolved.error().line().c_str());
            for (const PlanEdit& edit : single_edits(*resolved))
                for (const PlanEdit::Field& field : edit.fields)
                    paths.insert(field.path);
        }
        // What most edits let follow, and some write.
        for (const char* follows : {"layout.dp_shard", "layout.stage_layers", "layout.etp", "training.micro_batches"})
            paths.insert(follows);
        QVERIFY(paths.size() > 15);
        for (const std::string& path : paths) {
            const auto* control = w.window.findChild<QWidget*>(fromUtf8(path));
            QVERIFY2(control, path.c_str());
            QVERIFY2(!control->accessibleName().isEmpty(), path.c_str()); // the finder goes there by it
        }
        // One of each kind changes the plan and shows what it has.
        auto* offload = w.child<QComboBox>("training.offload");
        offload->setCurrentIndex(offload->findData(QStringLiteral("optimizer")));
        emit offload->activated(offload->currentIndex());
        QVERIFY(value_at(w.document().plan().document, "training.offload") == Json("optimizer"));
        auto* prefetch = w.child<QCheckBox>("training.fsdp.prefetch");
        const bool before = prefetch->isChecked();
        prefetch->click();
        QVERIFY(value_at(w.document().plan().document, "training.fsdp.prefetch") == Json(!before));
        w.document().setValue("training.recompute", "full", QStringLiteral("Change"));
        auto* layers = w.child<QSpinBox>("training.recompute_layers");
        layers->setValue(3);
        QVERIFY(value_at(w.document().plan().document, "training.recompute_layers") == Json(3));
        layers->setValue(0);
        QVERIFY(value_at(w.document().plan().document, "training.recompute_layers").is_null());
        const Plan before_batches = w.document().plan();
        w.child<QSpinBox>("training.micro_batches")->setValue(16);
        QVERIFY(value_at(w.document().plan().document, "training.global_batch").is_null()); // it follows
        QCOMPARE(w.document().resolved()->training.micro_batches, 16);
        w.document().undoStack().undo();
        QVERIFY(w.document().plan().document == before_batches.document);
        w.document().setValue("layout.pp", 2, QStringLiteral("Change"));
        auto* layers_of = w.child<QLineEdit>("layout.stage_layers");
        QVERIFY(layers_of->isVisible());
        QCOMPARE(layers_of->placeholderText(), QStringLiteral("16, 16"));
        layers_of->setFocus();
        QTest::keyClicks(layers_of, "15,17");
        QTest::keyClick(layers_of, Qt::Key_Return);
        QVERIFY(value_at(w.document().plan().document, "layout.stage_layers") == Json({15, 17}));
        QTest::keyClick(layers_of, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(layers_of, "15 layers");
        QTest::keyClick(layers_of, Qt::Key_Return);
        QVERIFY(layers_of->toolTip().contains(QStringLiteral("expected whole numbers")));
        QVERIFY(value_at(w.document().plan().document, "layout.stage_layers") == Json({15, 17}));
        QTest::keyClick(layers_of, Qt::Key_Escape);
        QCOMPARE(layers_of->text(), QStringLiteral("15, 17"));
        w.document().setValue("training.sharding", "hybrid", QStringLiteral("Change"));
        auto* shard = w.child<QSpinBox>("layout.dp_shard");
        QVERIFY(shard->isVisible());
        shard->setValue(2);
        QVERIFY(value_at(w.document().plan().document, "layout.dp_shard") == Json(2));
    }

    // By a control of its own or as a field of the plan: the finder goes to all that a plan's file can say.
    void theFinderGoesToEveryFieldOfThePlan()
    {
        Fixture w;
        QVERIFY(w.answered());
        const view::PlanState& state = w.document().state();
        int without = 0;
        {
            const WhenDialog<CommandPalette> look([&](CommandPalette& palette) {
                std::set<QString> offered;
                for (int row = 0; row < palette.model().rowCount(); ++row)
                    offered.insert(palette.model().index(row, 0).data().toString().toLower());
                for (const view::AnyField& field : view::any_fields(state.plan(), nullptr)) {
                    const QString path = fromUtf8(field.path);
                    const auto* control = w.window.findChild<QWidget*>(path);
                    const bool byControl = control && offered.contains(control->accessibleName().toLower());
                    const auto named = offered.lower_bound(path);
                    const bool byName = named != offered.end() && (*named == path || named->startsWith(path + u':'));
                    without += byName;
                    if (byControl == byName)
                        QFAIL(qPrintable(path + (byName ? QStringLiteral(" twice") : QStringLiteral(" not at all"))));
                }
                palette.findChild<QLineEdit*>()->setText(QStringLiteral("run.checkpoint.every"));
                QTest::keyClick(palette.findChild<QLineEdit*>(), Qt::Key_Return);
            });
            const WhenDialog<FieldsDialog> set([&](FieldsDialog& dialog) {
                auto* value = dialog.findChild<QLineEdit*>(QStringLiteral("fieldValue"));
                value->setText(QStringLiteral("often"));
                QTest::keyClick(value, Qt::Key_Return);
                QVERIFY(dialog.isVisible());
                const auto* said = dialog.findChild<QLabel*>(QStringLiteral("fieldSaid"));
                QVERIFY2(said->text().contains(QStringLiteral("found \"often\", expected an integer")),
                    qPrintable(said->text()));
                QVERIFY(value_at(w.document().plan().document, "run.checkpoint.every").is_null());
                value->setText(QStringLiteral("1,000"));
                QTest::keyClick(value, Qt::Key_Return);
                dialog.reject();
            });
            w.window.findCommand();
            QVERIFY(look.came() && set.came());
        }
        QVERIFY(without > 40);
        QVERIFY(value_at(w.document().plan().document, "run.checkpoint.every") == Json(1000));
        w.document().undoStack().undo();
        QVERIFY(value_at(w.document().plan().document, "run.checkpoint.every").is_null());
    }

    // The filter narrows the list by name and meaning; "Default" takes a field out of the file.
    void everyFieldIsFoundByItsMeaningAndComesBackToItsDefault()
    {
        Fixture w;
        FieldsDialog dialog(w.document(), {}, &w.window);
        dialog.show();
        const auto* table = dialog.findChild<QTableView*>(QStringLiteral("planFields"));
        auto* words = dialog.findChild<QLineEdit*>(QStringLiteral("fieldWords"));
        const int all = table->model()->rowCount();
        words->setText(QStringLiteral("learning warm-up"));
        QVERIFY(table->model()->rowCount() > 0 && table->model()->rowCount() < all);
        QCOMPARE(table->currentIndex().siblingAtColumn(0).data().toString(), QStringLiteral("run.lr"));
        auto* value = dialog.findChild<QLineEdit*>(QStringLiteral("fieldValue"));
        value->setText(QStringLiteral("1e-3"));
        QTest::keyClick(value, Qt::Key_Return);
        QVERIFY(value_at(w.document().plan().document, "run.lr") == Json(1e-3));
        QCOMPARE(table->currentIndex().siblingAtColumn(1).data().toString(), QStringLiteral("0.001"));
        QTest::mouseClick(dialog.findChild<QPushButton*>(QStringLiteral("fieldDefault")), Qt::LeftButton);
        QVERIFY(value_at(w.document().plan().document, "run.lr").is_null());
        auto* rows = dialog.findChild<QTableView*>(QStringLiteral("planFields"));
        rows->setFocus();
        QTest::keyClick(rows, Qt::Key_Return);
        QVERIFY(dialog.isVisible());
        QCOMPARE(dialog.focusWidget(), value);
        words->setText(QStringLiteral("no such words at all"));
        QCOMPARE(table->model()->rowCount(), 0);
        QVERIFY(!value->isEnabled());
        QVERIFY(!dialog.findChild<QPushButton*>(QStringLiteral("setField"))->isEnabled());
    }

    // What the training costs is written on its card, kept with the plan, and taken back like any change.
    void theWholeTrainingIsReckonedWithWhatIsWrittenThere()
    {
        Fixture w;
        QVERIFY(w.answered());
        w.showPicture(QStringLiteral("Budget"));
        auto* table = w.child<QTableView>("wholeTraining");
        QVERIFY(table->isVisible());
        const auto value = [&](const QString& figure, int column) {
            for (int row = 0; row < table->model()->rowCount(); ++row) {
                if (table->model()->index(row, 0).data().toString() == figure)
                    return table->model()->index(row, column).data().toString();
            }
            return QString();
        };
        QVERIFY(value(QStringLiteral("Tokens"), 3).contains(QStringLiteral("20 per parameter")));
        QCOMPARE(value(QStringLiteral("Cost"), 1), unknownText());
        const auto type = [&](const char* path, const char* text) {
            auto* field = w.child<QLineEdit>(path);
            QVERIFY2(field, path);
            field->setFocus();
            field->selectAll();
            QTest::keyClicks(field, text);
            QTest::keyClick(field, Qt::Key_Return);
        };
        type("run.tokens", "2T");
        type("budget.price_per_gpu_hour", "2.5");
        type("budget.gpu_mtbf_hours", "50,000");
        type("budget.storage_gb_s", "20");
        QVERIFY(w.answered());
        QVERIFY(value_at(w.document().plan().document, "run.tokens") == Json(2e12));
        QCOMPARE(w.child<QLineEdit>("budget.gpu_mtbf_hours")->text(), QStringLiteral("50,000"));
        const Economics economics = economics_of(w.document().prediction()->plan,
            *w.document().prediction()->step_time_s, budget_of(w.document().plan(), *w.document().resolved()));
        QCOMPARE(value(QStringLiteral("Cost"), 1), grouped(economics.cost));
        QCOMPARE(value(QStringLiteral("Cost"), 2), grouped(economics.expected_cost));
        QVERIFY(value(QStringLiteral("Goodput"), 1).endsWith(QStringLiteral(" %")));
        QVERIFY(table->model()->index(1, 2).data(Qt::ToolTipRole).toString().contains(QStringLiteral("goodput")));
        // Bad input says so and changes nothing.
        type("budget.storage_gb_s", "fast");
        QVERIFY(w.child<QLineEdit>("budget.storage_gb_s")->toolTip().startsWith(QStringLiteral("budget.storage_gb_s")));
        QVERIFY(value_at(w.document().plan().document, "budget.storage_gb_s") == Json(20.0));
        QVERIFY2(w.window.statusBar()->currentMessage().contains(QStringLiteral("budget.storage_gb_s")),
            qPrintable(w.window.statusBar()->currentMessage()));
        type("budget.price_per_gpu_hour", "2.75"); // what was refused stays to be mended
        QCOMPARE(w.child<QLineEdit>("budget.storage_gb_s")->text(), QStringLiteral("fast"));
        w.document().undoStack().undo();
        // Enter opens the derivation.
        table->setCurrentIndex(table->model()->index(3, 2));
        table->setFocus();
        QTest::keyClick(table, Qt::Key_Return);
        auto* dialog = w.window.findChild<DerivationDialog*>();
        QVERIFY(dialog);
        QCOMPARE(fromUtf8(dialog->model().root().label), QStringLiteral("cost with failures and checkpoints"));
        dialog->close();
        for (int steps = 0; steps < 4; ++steps)
            w.document().undoStack().undo();
        QVERIFY(!has_budget(w.document().plan()));
        QVERIFY(w.answered());
        QVERIFY(value(QStringLiteral("Tokens"), 3).contains(QStringLiteral("20 per parameter")));
    }

    // The finder brings a card to the front that stands behind another.
    void theFinderGoesToAFieldOfACard()
    {
        Fixture w;
        QVERIFY(w.answered());
        auto* price = w.child<QLineEdit>("budget.price_per_gpu_hour");
        QVERIFY(price && !price->isVisible());
        const std::vector<Command> commands
            = CommandPalette::commandsOf(&w.window, {{QStringLiteral("Plan"), &w.window.planPage(), [] {}}});
        const auto found = std::find_if(commands.begin(), commands.end(),
            [](const Command& command) { return command.text.startsWith(QStringLiteral("Price")); });
        QVERIFY(found != commands.end());
        found->run();
        QVERIFY(price->isVisible());
    }

    void everyAdviceIsWhatAPredictionSays()
    {
        Fixture w;
        w.document().setValue("training.recompute", "full", QStringLiteral("Change"));
        QVERIFY(w.advised());
        const std::vector<Advice> all = w.advice().all();
        QVERIFY(!all.empty()); // recomputing nothing is faster
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Expected<Plan> changed = view::with_fields(w.document().plan(), all[i].edit.fields);
            QVERIFY2(changed.has_value(), all[i].edit.summary.c_str());
            const Expected<ResolvedPlan> resolved = resolve(*changed, w.presets);
            QVERIFY2(resolved.has_value(), all[i].edit.summary.c_str());
            const Prediction prediction = predict(*resolved);
            QVERIFY2(std::abs(*prediction.tps_per_gpu / all[i].tps_per_gpu - 1) < 1e-9, all[i].edit.summary.c_str());
        }
    }

    void theListIsUsedByKeys()
    {
        Fixture w;
        w.document().setValue("training.recompute", "full", QStringLiteral("Change"));
        QVERIFY(w.advised());
        QTest::mouseClick(w.child<QPushButton>("allAdvice"), Qt::LeftButton);
        auto* table = w.child<QTableView>("advice");
        QVERIFY(table->isVisible());
        QCOMPARE(table->model()->rowCount(), int(w.advice().all().size()));
        table->setFocus();
        table->selectRow(table->model()->rowCount() - 1);
        const std::string last = w.advice().all().back().edit.fields.front().path;
        const Json wanted = w.advice().all().back().edit.fields.front().value;
        QTest::keyClick(table, Qt::Key_Return);
        QVERIFY(value_at(w.document().plan().document, last) == wanted);
        QTest::keyClick(&w.window, Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(value_at(w.document().plan().document, "training.recompute") == Json("full"));
    }

    void nothingIsLookedForWhileThePageIsHidden()
    {
        Fixture w;
        QVERIFY(w.advised());
        w.window.showPage(QStringLiteral("history"));
        w.document().setValue("training.micro_batch", 2, QStringLiteral("Change"));
        QVERIFY(w.answered());
        QTest::qWait(400);
        QVERIFY(!w.advice().isLooking());
        QVERIFY(!w.advice().report().has_value()); // the old one was about another plan
        w.window.showPage(QStringLiteral("plan"));
        QVERIFY(w.advised());
    }

    void figuresExplainThemselvesOnHover()
    {
        Fixture w;
        QVERIFY(w.answered());
        for (const FigureCard* card : w.window.planPage().figures()) {
            if (card->figure().title == "Pipeline bubble")
                continue; // one stage: nothing to derive
            QVERIFY2(card->tip().count(QLatin1Char('\n')) >= 2, qPrintable(card->tip()));
        }
        QVERIFY2(w.window.planPage().figures()[3]->tip().contains(QStringLiteral("compute")),
            qPrintable(w.window.planPage().figures()[3]->tip()));
    }

    void barsOpenTheirDerivationOnEnter()
    {
        Fixture w;
        Expected<Plan> plan = read_plan(w.presets.file("plans", "llama-3.1-405b-torchtitan-512").value());
        w.document().reset(*std::move(plan));
        QVERIFY(w.answered());
        auto* bars = w.window.planPage().findChild<MemoryBars*>();
        bars->setFocus();
        QTest::keyClick(bars, Qt::Key_Right);
        QTest::keyClick(bars, Qt::Key_Return);
        auto* memory = w.window.findChild<DerivationDialog*>();
        QVERIFY(memory);
        QVERIFY(memory->windowTitle().contains(QStringLiteral("memory")));
        delete memory;
        auto* timeline = w.window.planPage().findChild<TimelineView*>();
        timeline->setFocus();
        QTest::keyClick(timeline, Qt::Key_Right);
        QVERIFY(timeline->selected().has_value());
        QTest::keyClick(timeline, Qt::Key_Return);
        auto* step = w.window.findChild<DerivationDialog*>();
        QVERIFY(step);
        QVERIFY2(step->windowTitle().contains(QStringLiteral("bar")), qPrintable(step->windowTitle()));
    }
};

int main(int argc, char** argv)
{
    return test::runTests<AdviceTest>(argc, argv);
}

#include "advice_test.moc"
