// SPDX-License-Identifier: GPL-3.0-or-later
// Search and Compare as a user has them, the pictures of the Plan page.
#include "app/desktop/guide_dialog.h"
#include "app/desktop/main_window.h"
#include "app/desktop/pages/compare/compare_charts.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/compare_timelines.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "app/desktop/widgets/cards/bounds_view.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/charts/memory_over_time.h"
#include "app/desktop/widgets/charts/pareto_scatter.h"
#include "app/desktop/widgets/charts/rank_mesh_view.h"
#include "app/desktop/widgets/panels/nothing_found_view.h"
#include "app/desktop/widgets/tables/expression_edit.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"
#include "core/calibration/user/evidence.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
using test::kPatience;

struct Fixture : test::WindowFixture {
    Fixture()
        : WindowFixture({}, {1440, 900})
    {
        open(QStringLiteral("pages.plan.json"));
    }
    QTableView* table(const char* name) { return window.findChild<QTableView*>(QString::fromLatin1(name)); }
};
} // namespace

class PagesTest : public QObject {
    Q_OBJECT
private slots:
    void searchFindsSortsFiltersAndApplies()
    {
        Fixture w;
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("search"));
        SearchPage& search = w.window.searchPage();
        // A small part of the space: the sanitizers' builds search it too.
        search.findChild<ExpressionEdit*>(QStringLiteral("constraint"))
            ->setText(QStringLiteral("pp == 1 and recompute == none and micro_batch <= 2"));
        QSignalSpy finished(&search.service(), &SearchService::finished);
        QTest::mouseClick(search.findChild<QPushButton*>(QStringLiteral("search")), Qt::LeftButton);
        QVERIFY(search.service().isRunning());
        QVERIFY(finished.wait(kPatience));
        ResultsModel& results = search.results();
        const QAbstractItemModelTester tester(&results, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(results.rowCount() > 5);
        // In the order of the search's own places, the rest by what it ranks by; every row is on the plan's GPUs.
        const auto answer = finished.at(0).at(0).value<SearchResult>();
        QVERIFY(results.row(0).found.candidate == answer.best.front().candidate);
        for (int row = 0; row < results.rowCount(); ++row) {
            const auto at = static_cast<std::size_t>(row);
            const QString place = results.index(row, ResultsModel::place).data().toString();
            QCOMPARE(place, at < answer.best.size() ? QString::number(answer.best[at].place) : QString());
            if (at > answer.best.size())
                QVERIFY(results.row(row - 1).found.weighed >= results.row(row).found.weighed);
        }
        // Each says of itself what its prediction says, also which of them somebody measured.
        int measured = 0;
        for (int row = 0; row < results.rowCount(); row += 7) {
            const ResultRow& one = results.row(row);
            const Prediction alone = predict_with_evidence(plan_of(one.found, search.service().request()));
            QCOMPARE(one.evidence, alone.evidence);
            measured += one.evidence == Evidence::measured;
        }
        QVERIFY(measured > 0);
        QCOMPARE(results.index(0, ResultsModel::gpus).data().toString(), QStringLiteral("16"));
        auto* filter = search.findChild<ExpressionEdit*>(QStringLiteral("resultFilter"));
        const int all = results.rowCount();
        filter->setText(QStringLiteral("tp == 2 and memory_gib < 80"));
        QVERIFY(results.rowCount() < all);
        for (int row = 0; row < results.rowCount(); ++row)
            QCOMPARE(results.index(row, ResultsModel::tp).data().toString(), QStringLiteral("2"));
        const int filtered = results.rowCount();
        filter->setText(QStringLiteral("tpp == 2"));
        QVERIFY(!filter->error().isEmpty());
        QCOMPARE(results.rowCount(), filtered); // an error changes nothing
        filter->clear();
        search.findChild<QCheckBox*>(QStringLiteral("paretoOnly"))->setChecked(true);
        QVERIFY(results.rowCount() > 0 && results.rowCount() < all);
        auto* scatter = search.findChild<ParetoScatter*>();
        QSignalSpy clicked(scatter, &ParetoScatter::rowClicked);
        QTest::mouseClick(scatter, Qt::LeftButton, {}, scatter->placeOf(0)->toPoint());
        QCOMPARE(clicked.count(), 1);
        QVERIFY(w.table("results")->currentIndex().isValid());
        search.findChild<QCheckBox*>(QStringLiteral("paretoOnly"))->setChecked(false);

        w.table("results")->setFocus();
        w.table("results")->setCurrentIndex(results.index(0, 0));
        QTest::keyClick(w.table("results"), Qt::Key_P);
        QCOMPARE(results.results().pinned().size(), std::size_t(1));
        const Candidate wanted = results.row(w.table("results")->currentIndex().row()).found.candidate;
        const Json before = w.window.document().plan().document;
        QTest::mouseClick(search.findChild<QPushButton*>(QStringLiteral("applyLayout")), Qt::LeftButton);
        QCOMPARE(w.window.page(), QStringLiteral("plan"));
        QVERIFY(w.window.document().isValid());
        QCOMPARE(w.window.document().resolved()->layout.tp, wanted.tp);
        QCOMPARE(w.window.document().resolved()->layout.pp, wanted.pp);
        w.window.document().undoStack().undo();
        QVERIFY(w.window.document().plan().document == before);
    }

    void searchSaysWhatStandsInTheWay()
    {
        Fixture w;
        w.window.showPage(QStringLiteral("search"));
        SearchPage& search = w.window.searchPage();
        auto* constraint = search.findChild<ExpressionEdit*>(QStringLiteral("constraint"));
        constraint->setText(QStringLiteral("tp >"));
        QVERIFY(!search.findChild<QPushButton*>(QStringLiteral("search"))->isEnabled());
        QVERIFY2(constraint->error().startsWith(QStringLiteral("character 5: ")), qPrintable(constraint->error()));
        constraint->setText(QStringLiteral("tp > 1000"));
        QSignalSpy finished(&search.service(), &SearchService::finished);
        QSignalSpy said(&search, &SearchPage::message);
        QTest::keyClick(constraint, Qt::Key_Return);
        QVERIFY(finished.wait(kPatience));
        QCOMPARE(search.results().rowCount(), 0);
        QVERIFY(said.last().at(0).toString().startsWith(QStringLiteral("Nothing found")));
        const auto* nothing = search.findChild<NothingFoundView*>();
        QVERIFY(nothing->isVisible());
        QVERIFY2(nothing->text().contains(QStringLiteral("\"tp > 1000\" holds for none")), qPrintable(nothing->text()));
        QVERIFY(QTest::qWaitFor([&] { return !search.cures().isLooking(); }, kPatience));
        QVERIFY(search.cures().all().empty()); // no change makes that many heads
        QVERIFY2(nothing->text().contains(QStringLiteral("No change that was tried")), qPrintable(nothing->text()));
        constraint->setText(QStringLiteral("pp == 1 and micro_batch == 1 and recompute == none"));
        QTest::keyClick(constraint, Qt::Key_Return);
        QVERIFY(!nothing->isVisible());
        QVERIFY(finished.wait(kPatience));
        QVERIFY(search.results().rowCount() > 0);
    }

    // Megatron-LM stops where 3 stages cannot have as many of 32 layers each.
    void whatTheSoftwareStopsAtIsHiddenWithItsNumberUntilItIsAskedFor()
    {
        Fixture w;
        QVERIFY(w.answered());
        w.window.document().setValue("stack", "megatron-lm", QStringLiteral("Change"));
        w.window.document().setValue("gpus", 24, QStringLiteral("Change"));
        w.window.document().setValue("training.global_batch", 96, QStringLiteral("Change"));
        w.window.showPage(QStringLiteral("search"));
        SearchPage& search = w.window.searchPage();
        search.findChild<QSpinBox*>(QStringLiteral("searchGpus"))->setValue(24);
        auto* constraint = search.findChild<ExpressionEdit*>(QStringLiteral("constraint"));
        constraint->setText(QStringLiteral("tp == 4 and cp == 1 and virtual_stages == 1 and micro_batch == 1"));
        QSignalSpy finished(&search.service(), &SearchService::finished);
        QSignalSpy said(&search, &SearchPage::message);
        QTest::keyClick(constraint, Qt::Key_Return);
        QVERIFY(finished.wait(kPatience));
        const int runs = search.results().rowCount();
        // Nothing is said of what the training costs: its columns are not there.
        auto* table = w.table("results");
        QVERIFY(table->isColumnHidden(ResultsModel::days) && table->isColumnHidden(ResultsModel::cost));
        QVERIFY2(said.last().at(0).toString().contains(QStringLiteral(" refused")),
            qPrintable(said.last().at(0).toString()));
        for (const ResultRow& row : search.found())
            QVERIFY(row.found.candidate.pp != 3);
        finished.clear();
        w.window.document().setValue("budget.price_per_gpu_hour", 2.5, QStringLiteral("Change"));
        QTest::mouseClick(search.findChild<QCheckBox*>(QStringLiteral("showRefused")), Qt::LeftButton);
        QVERIFY(finished.count() > 0 || finished.wait(kPatience));
        QVERIFY(search.results().rowCount() > runs);
        QVERIFY(!table->isColumnHidden(ResultsModel::days) && !table->isColumnHidden(ResultsModel::cost));
        const std::size_t first = search.results().idOf(0);
        const double days = search.results().results().value(first, ResultsModel::days);
        const double cost = search.results().results().value(first, ResultsModel::cost);
        QVERIFY(qFuzzyCompare(cost, days * 24 * 24 * 2.5)); // of 24 GPUs
        QVERIFY(!said.last().at(0).toString().contains(QStringLiteral("refused")));
        QVERIFY(std::ranges::any_of(
            search.found(), [](const ResultRow& row) { return row.found.candidate.pp == 3 && row.warned; }));
    }

    void enterMeansTheTypedTextAndTabTheFirstWord()
    {
        Fixture w;
        w.window.showPage(QStringLiteral("search"));
        SearchPage& search = w.window.searchPage();
        auto* constraint = search.findChild<ExpressionEdit*>(QStringLiteral("constraint"));
        constraint->setFocus();
        QTest::keyClicks(constraint, QStringLiteral("memory_gib < 1"));
        const QWidget* popup = QApplication::activePopupWidget();
        QVERIFY(popup != nullptr); // offers 1f1b
        QSignalSpy finished(&search.service(), &SearchService::finished);
        QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Return);
        QCOMPARE(constraint->text(), QStringLiteral("memory_gib < 1"));
        QVERIFY(!popup->isVisible());
        QVERIFY(finished.wait(kPatience));
        constraint->clear();
        QTest::keyClicks(constraint, QStringLiteral("memory_g"));
        QVERIFY(QApplication::activePopupWidget() != nullptr);
        QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Tab);
        QCOMPARE(constraint->text(), QStringLiteral("memory_gib"));
        QTest::keyClicks(constraint, QStringLiteral(" < me"));
        QVERIFY(QApplication::activePopupWidget() != nullptr);
        QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Down);
        QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Return);
        QVERIFY2(constraint->text().startsWith(QStringLiteral("memory_gib < memory")), qPrintable(constraint->text()));
    }

    void searchThatFindsNothingNamesCuresThatOneClickApplies()
    {
        Fixture w;
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("search"));
        SearchPage& search = w.window.searchPage();
        search.findChild<ExpressionEdit*>(QStringLiteral("constraint"))
            ->setText(QStringLiteral("pp == 1 and recompute == none and nodes <= 1"));
        search.findChild<QSpinBox*>(QStringLiteral("searchGpus"))->setValue(16);
        QSignalSpy finished(&search.service(), &SearchService::finished);
        QTest::mouseClick(search.findChild<QPushButton*>(QStringLiteral("search")), Qt::LeftButton);
        QVERIFY(finished.wait(kPatience));
        QCOMPARE(search.results().rowCount(), 0);
        QVERIFY(QTest::qWaitFor([&] { return !search.cures().isLooking(); }, kPatience));
        const auto* nothing = search.findChild<NothingFoundView*>();
        QVERIFY2(nothing->text().contains(QStringLiteral("\"nodes <= 1\"")), qPrintable(nothing->text()));
        QVERIFY(!search.cures().all().empty());
        const Advice cure = search.cures().all().front();
        const Json before = w.window.document().plan().document;
        QTest::mouseClick(search.findChild<QPushButton*>(QStringLiteral("applyCure0")), Qt::LeftButton);
        QCOMPARE(w.window.page(), QStringLiteral("plan"));
        QVERIFY(w.window.document().isValid());
        const ResolvedPlan& now = *w.window.document().resolved();
        QCOMPARE(now.gpus, cure.edit.plan.gpus);
        QVERIFY(now.nodes() <= 1);
        const Layout& wanted = cure.edit.plan.layout;
        QCOMPARE(QList<int>({now.layout.tp, now.layout.cp, now.layout.pp, now.layout.dp}),
            QList<int>({wanted.tp, wanted.cp, wanted.pp, wanted.dp}));
        QCOMPARE(now.training.micro_batch, cure.edit.plan.training.micro_batch);
        w.window.document().undoStack().undo();
        QVERIFY(w.window.document().plan().document == before);
    }

    void aCancelledSearchKeepsWhatItFound()
    {
        Fixture w;
        w.window.document().setValue("gpus", 1024, QStringLiteral("Change"));
        w.window.showPage(QStringLiteral("search"));
        SearchPage& search = w.window.searchPage();
        search.findChild<QSpinBox*>(QStringLiteral("searchGpus"))->setValue(4096);
        search.findChild<QCheckBox*>(QStringLiteral("searchUpTo"))->setChecked(true);
        QSignalSpy finished(&search.service(), &SearchService::finished);
        search.start();
        QTest::qWait(400);
        search.service().cancel();
        QVERIFY(finished.count() == 1 || finished.wait(kPatience));
        QVERIFY(!search.service().isRunning());
        QVERIFY(search.findChild<QPushButton*>(QStringLiteral("search"))->isEnabled());
    }

    void plansAreComparedWithAReference()
    {
        Fixture w;
        QVERIFY(w.answered());
        QTest::keyClick(&w.window, Qt::Key_D, Qt::ControlModifier);
        w.window.document().setValue("layout.tp", 4, QStringLiteral("Change"));
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("compare"));
        CompareModel& model = w.window.comparePage().model();
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QTRY_COMPARE(model.entries().size(), std::size_t(2));
        const auto rowOf = [&](const QString& name) {
            for (int row = 0; row < model.rowCount(); ++row) {
                if (model.index(row, 0).data().toString() == name)
                    return row;
            }
            return -1;
        };
        const int throughput = rowOf(QStringLiteral("Tokens/s per GPU"));
        QVERIFY(throughput > 0);
        QVERIFY(!model.index(throughput, 1).data(CompareModel::DeltaRole).isValid()); // the reference
        const double delta = model.index(throughput, 2).data(CompareModel::DeltaRole).toDouble();
        QVERIFY(delta != 0);
        QVERIFY(model.index(throughput, 2).data().toString().contains(delta > 0 ? QLatin1Char('+') : QLatin1Char('-')));
        w.window.comparePage().findChild<QComboBox*>(QStringLiteral("compareReference"))->setCurrentIndex(1);
        QVERIFY(model.index(throughput, 1).data(CompareModel::DeltaRole).toDouble() * delta < 0);
        QVERIFY(rowOf(QStringLiteral("Model")) > 0);
        w.window.comparePage().findChild<QCheckBox*>(QStringLiteral("differencesOnly"))->setChecked(true);
        QCOMPARE(rowOf(QStringLiteral("Model")), -1);
        QVERIFY(rowOf(QStringLiteral("TP")) > 0);
        const Table table = model.table();
        QCOMPARE(table.rows.size(), std::size_t(2));
        QCOMPARE(table.columns.front().key, std::string("name"));
        CompareCharts& charts = w.window.comparePage().charts();
        QCOMPARE(charts.memory().table().rows.size(), std::size_t(2));
        QVERIFY(charts.memory().seriesCount() == 1);
        // Two timelines, one axis: zooming one moves the other.
        QVERIFY(test::clickTab(*w.child<QTabBar>("compareViews"), QStringLiteral("Timelines")));
        const CompareTimelines& timelines = w.window.comparePage().timelines();
        TimelineView *first = timelines.views()[0], *second = timelines.views()[1];
        QVERIFY2(timelines.difference().contains(QStringLiteral("forward ")), qPrintable(timelines.difference()));
        QCOMPARE(first->window().length(), second->window().length());
        first->setFocus();
        QTest::keyClick(first, Qt::Key_W);
        QVERIFY(!first->window().isFit());
        QCOMPARE(second->window().begin(), first->window().begin());
        QCOMPARE(second->window().end(), first->window().end());
    }

    void publishedRowsStandBesideAPlan()
    {
        Fixture w;
        QVERIFY(w.answered());
        w.window.showPage(QStringLiteral("compare"));
        ComparePage& page = w.window.comparePage();
        const Expected<TableSources> sources = TableSources::find();
        QVERIFY(sources.has_value());
        const Expected<MeasuredTable> table = read_measured_table(
            FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv", *sources, w.presets);
        QVERIFY2(table.has_value(), table ? "" : table.error().line().c_str());
        std::vector<std::size_t> rows;
        for (std::size_t i = 0; i < table->rows.size() && rows.size() < 3; ++i) {
            if (table->rows[i].ran())
                rows.push_back(i);
        }
        page.addRows(*table, rows);
        page.addRows(*table, rows); // once is enough
        QCOMPARE(page.model().entries().size(), rows.size() + 1);
        const CompareEntry& published = page.model().entries().back();
        QCOMPARE(published.kind, EntryKind::published);
        QVERIFY(published.tps_per_gpu.has_value());
        QSignalSpy ready(&page.charts(), &CompareCharts::scalingReady);
        for (auto* bar : page.findChildren<QTabBar*>(QStringLiteral("cardSwitch"))) {
            for (int i = 0; i < bar->count(); ++i) {
                if (bar->tabText(i) == QStringLiteral("Scaling"))
                    bar->setCurrentIndex(i);
            }
        }
        QVERIFY(ready.count() > 0 || ready.wait(kPatience));
        QVERIFY(page.charts().scaling().seriesCount() >= 2); // the plan's line and the table's dots
        QVERIFY2(page.charts().scaling().accessibleDescription().contains(QStringLiteral(" GPUs, ")),
            qPrintable(page.charts().scaling().accessibleDescription())); // where each begins and ends
    }

    void theMeshNamesTheGroupsOfLlama3()
    {
        Fixture w;
        Expected<Plan> plan = read_plan(w.presets.file("plans", "llama-3-mesh-2x2x2x2").value());
        QVERIFY(plan.has_value());
        w.window.document().reset(*std::move(plan));
        w.showPicture(QStringLiteral("Rank mesh"));
        auto* mesh = w.window.planPage().findChild<RankMeshView*>();
        QVERIFY(mesh->isVisible());
        // Table 2 of the contract: GPU 0's TP, CP, PP and DP peers are GPUs 1, 2, 4 and 8.
        const view::RankMesh model(*w.window.document().resolved());
        QCOMPARE(model.group(0, Dimension::tp), (std::vector<int>{0, 1}));
        QCOMPARE(model.group(0, Dimension::cp), (std::vector<int>{0, 2}));
        QCOMPARE(model.group(0, Dimension::pp), (std::vector<int>{0, 4}));
        QCOMPARE(model.group(0, Dimension::dp), (std::vector<int>{0, 8}));
        const QStringList words = fromUtf8(model.describe(0));
        QVERIFY2(words.join(QLatin1Char('\n')).contains(QStringLiteral("0 and 8, across 2 nodes")),
            qPrintable(words.join(QLatin1Char('\n'))));
        QTest::mouseMove(mesh, mesh->cellOf(5).center().toPoint());
        QTRY_COMPARE(mesh->current(), std::optional<int>(5));
        mesh->setFocus();
        QTest::keyClick(mesh, Qt::Key_Right);
        QCOMPARE(mesh->current(), std::optional<int>(6));
        QCOMPARE(mesh->table().rows.size(), std::size_t(16));
    }

    void aLargeMeshIsDrawnInPart()
    {
        RankMeshView view;
        Presets presets;
        const Expected<Plan> plan = parse_plan(R"({"fourfold_plan": 1, "model": "llama-3.1-405b",
            "cluster": "grand-teton-h100", "gpus": 16384, "layout": {"tp": 8, "cp": 1, "pp": 16, "dp": 128},
            "training": {"global_batch": 2048, "schedule": "1f1b"}})",
            "");
        QVERIFY(plan.has_value());
        view.showMesh(view::RankMesh(*resolve(*plan, presets)));
        view.resize(900, 320);
        view.show();
        const QImage image = view.grab().toImage();
        QVERIFY(!image.isNull());
        QVERIFY(view.cellOf(0).isValid());
        QCOMPARE(view.table().rows.size(), std::size_t(16384));
    }

    void memoryOverTimeFollowsTheStage()
    {
        Fixture w;
        Expected<Plan> plan = read_plan(w.presets.file("plans", "llama-3.1-405b-torchtitan-512").value());
        w.window.document().reset(*std::move(plan));
        QVERIFY(w.answered());
        w.showPicture(QStringLiteral("Over time"));
        auto* curve = w.window.planPage().findChild<MemoryOverTime*>();
        QVERIFY(curve->isVisible());
        QVERIFY(!curve->curve().points.empty());
        const int stage = curve->curve().stage;
        curve->setFocus();
        QTest::keyClick(curve, stage == 0 ? Qt::Key_Down : Qt::Key_Up);
        QVERIFY(curve->curve().stage != stage);
        const QImage before = curve->grab().toImage();
        QTest::keyClick(curve, Qt::Key_Right);
        QVERIFY(curve->grab().toImage() != before);
        QVERIFY(!curve->table().rows.empty());
        w.showPicture(QStringLiteral("Bounds"));
        auto* bounds = w.window.planPage().findChild<BoundsView*>();
        QVERIFY(!bounds->table().rows.empty());
        QVERIFY(!bounds->accessibleDescription().isEmpty());
    }

    void shiftMeasuresOnTheTimeline()
    {
        Fixture w;
        Expected<Plan> plan = read_plan(w.presets.file("plans", "llama-3.1-405b-torchtitan-512").value());
        w.window.document().reset(*std::move(plan));
        QVERIFY(w.answered());
        auto* view = w.window.planPage().findChild<TimelineView*>();
        const QRectF bar = view->barRect({0, 0});
        const QPoint from(qRound(bar.left()) + 60, qRound(bar.center().y())), to = from + QPoint(160, 0);
        QTest::mousePress(view, Qt::LeftButton, Qt::ShiftModifier, from);
        QTest::mouseMove(view, to);
        QTest::mouseRelease(view, Qt::LeftButton, Qt::ShiftModifier, to);
        QVERIFY(view->measured().has_value());
        const auto [begin, end] = *view->measured();
        QVERIFY(end > begin);
        view->setFocus();
        QTest::keyClick(view, Qt::Key_Z);
        QVERIFY(std::abs(view->window().begin() - begin) < 1e-9 * view->window().length());
        QVERIFY(std::abs(view->window().end() - end) < 1e-9 * view->window().length());
        QTest::keyClick(view, Qt::Key_Backspace);
        QVERIFY(view->window().isFit());
        QTest::keyClick(view, Qt::Key_Escape);
        QVERIFY(!view->measured().has_value());
    }

    void theGuideHasAChapterAMode()
    {
        GuideDialog guide(nullptr);
        QVERIFY(guide.chapters() >= 7);
    }
};

int main(int argc, char** argv)
{
    return test::runTests<PagesTest>(argc, argv);
}

#include "pages_test.moc"
