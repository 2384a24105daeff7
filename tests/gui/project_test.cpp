// SPDX-License-Identifier: GPL-3.0-or-later
// A project in the window: its plans, comparisons, views and notes, in a folder that others write into as well.
#include "app/desktop/command_palette.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/compare_sets.h"
#include "app/desktop/pages/history/history_page.h"
#include "app/desktop/plan_files.h"
#include "app/desktop/project_files.h"
#include "app/desktop/session.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/tables/table_views.h"
#include "app/models/history/history_model.h"
#include "app/models/shared/text.h"
#include "app/view/compare/published.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QFileDialog>
#include <QHeaderView>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
const char* const kTable = FOURFOLD_SOURCE_DIR "/presets/published/llama31_8b_4d_a100_h100.csv";

// A folder with plans, named in the order given.
struct Folder {
    explicit Folder(const QStringList& plans = {})
    {
        for (const QString& plan : plans)
            write(plan, test::clusterPlan());
    }
    void write(const QString& name, const QByteArray& text) const
    {
        QFile out(at(name));
        QVERIFY(out.open(QIODevice::WriteOnly));
        QCOMPARE(out.write(text), text.size());
    }
    [[nodiscard]] QString at(const QString& name) const { return QDir(path).filePath(name); }
    [[nodiscard]] Json file() const
    {
        const Expected<Json> json = read_json_file(at(QLatin1String(view::kProjectFile)).toStdString());
        return json ? *json : Json();
    }
    // A member of the project's file as it is written there, on one line; empty: there is none.
    [[nodiscard]] QString part(const char* key) const
    {
        const Json json = file();
        return json.is_object() && json.contains(key) ? exactText(json.at(key).dump()) : QString();
    }
    [[nodiscard]] bool open(MainWindow& window) const { return window.projects().open(path.toStdString()); }

    QTemporaryDir folder;
    QString path = QDir(folder.path()).canonicalPath();
};

QStringList openPlans(MainWindow& window)
{
    QStringList names;
    for (int i = 0; i < window.plans().count(); ++i)
        names << fromUtf8(window.plans().document(i).file().filename().string());
    return names;
}

QStringList compared(MainWindow& window)
{
    QStringList names;
    for (const CompareEntry& entry : window.comparePage().model().entries())
        names << entry.name;
    return names;
}

const QStringList kAB{QStringLiteral("a.plan.json"), QStringLiteral("b.plan.json")};
} // namespace

class ProjectTest : public QObject {
    Q_OBJECT
private slots:
    void aFolderOfPlansIsOpenedAndFollowed()
    {
        const Folder folder(kAB);
        test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("another.plan.json")));
        w.window.openFile(folder.path.toStdString()); // as from the command line
        QCOMPARE(openPlans(w.window), kAB);
        QVERIFY(folder.file().is_null()); // looking at it writes nothing
        QVERIFY2(
            w.window.windowTitle().contains(QFileInfo(folder.path).fileName()), qPrintable(w.window.windowTitle()));
        w.window.plans().move(0, 1);
        QTRY_VERIFY(!folder.file().is_null()); // a moment later, by itself
        QCOMPARE(folder.part("plans"), QStringLiteral(R"(["b.plan.json","a.plan.json"])"));
        w.window.plans().close(0);
        QTRY_COMPARE(folder.part("plans"), QStringLiteral(R"(["a.plan.json"])"));
        QCOMPARE(w.window.projects().closedPlans().size(), std::size_t(1)); // and is offered
        // A plan that is saved in the folder belongs to it.
        w.window.files().duplicate();
        QVERIFY(w.window.savePlanAs(folder.at(QStringLiteral("c.plan.json")).toStdString()));
        QTRY_COMPARE(folder.part("plans"), QStringLiteral(R"(["a.plan.json","c.plan.json"])"));
        QVERIFY(w.window.projects().close());
        QVERIFY(!w.window.projects().project());
        QCOMPARE(w.window.plans().count(), 1);
        QVERIFY(w.window.document().file().empty());
        QCOMPARE(folder.file().at("plans").size(), std::size_t(2)); // closing takes nothing out of it
        QVERIFY(folder.open(w.window));
        QCOMPARE(openPlans(w.window), (QStringList{QStringLiteral("a.plan.json"), QStringLiteral("c.plan.json")}));
    }

    void whatIsMissingOrDamagedIsToldInOneLineAndStaysInTheFile()
    {
        const Folder folder(kAB);
        folder.write(QLatin1String(view::kProjectFile),
            R"({"fourfold_project": 1, "plans": ["gone.plan.json", "a.plan.json", "broken.plan.json", "b.plan.json"]})");
        folder.write(QStringLiteral("broken.plan.json"), "{");
        test::WindowFixture w;
        QVERIFY(folder.open(w.window));
        QCOMPARE(openPlans(w.window), kAB);
        QVERIFY(w.window.banner().isVisible());
        const QString said = w.window.banner().text();
        QVERIFY2(
            said.startsWith(QStringLiteral("2 plans of project ")) && said.contains(QStringLiteral("gone.plan.json")),
            qPrintable(said));
        QVERIFY(!said.contains(QLatin1Char('\n')));
        w.window.projects().keep();
        w.window.plans().close(0);
        w.window.projects().keep();
        QCOMPARE(folder.part("plans"), QStringLiteral(R"(["gone.plan.json","b.plan.json","broken.plan.json"])"));
        // A damaged file of a project changes nothing here.
        const Folder damaged;
        damaged.write(QLatin1String(view::kProjectFile), "{\"fourfold_project\"");
        QString told;
        test::DialogWatch watch([&](QMessageBox& box) { told = box.text() + box.informativeText(); });
        QVERIFY(!damaged.open(w.window));
        QVERIFY2(told.contains(QStringLiteral("JSON")), qPrintable(told));
        QCOMPARE(openPlans(w.window), QStringList{QStringLiteral("b.plan.json")});
        QVERIFY(w.window.projects().project()->folder() == folder.path.toStdString());
    }

    void changesAreNotLostWhenAProjectOpens()
    {
        const Folder folder(kAB);
        test::WindowFixture w;
        QVERIFY(w.open(QStringLiteral("edited.plan.json")));
        w.document().setValue("training.micro_batch", 2, QStringLiteral("Change"));
        {
            test::DialogWatch cancel([](QMessageBox& box) { box.button(QMessageBox::Cancel)->click(); });
            QVERIFY(!folder.open(w.window));
            QCOMPARE(cancel.seen(), 1);
        }
        QVERIFY(w.document().isDirty());
        QVERIFY(!w.window.projects().project());
        test::DialogWatch save([](QMessageBox& box) { box.button(QMessageBox::Save)->click(); });
        QVERIFY(folder.open(w.window));
        QVERIFY(
            test::readFile(test::Home::the().path(QStringLiteral("edited.plan.json"))).contains("\"micro_batch\": 2"));
    }

    void aNewProjectTakesTheOpenPlansAlong()
    {
        const Folder folder;
        test::WindowFixture w;
        folder.write(QStringLiteral("mine.plan.json"), test::clusterPlan());
        QVERIFY(w.window.openPlan(folder.at(QStringLiteral("mine.plan.json")).toStdString()));
        w.window.files().duplicate(); // an untitled one, which stays what it is
        const test::WhenDialog<QFileDialog> ask([&](QFileDialog& dialog) {
            dialog.setDirectory(folder.path);
            dialog.findChild<QLineEdit*>()->setText(folder.path);
            QMetaObject::invokeMethod(&dialog, "accept");
        });
        w.window.projects().askNew();
        QVERIFY(ask.came());
        QVERIFY(w.window.projects().project());
        QCOMPARE(w.window.plans().count(), 2);
        QVERIFY(w.document().isDirty());
        QCOMPARE(folder.part("plans"), QStringLiteral(R"(["mine.plan.json"])"));
        // Saving asks for a name in its folder.
        QString suggested;
        const test::WhenDialog<QFileDialog> save([&](QFileDialog& dialog) {
            suggested = dialog.directory().canonicalPath();
            dialog.reject();
        });
        QVERIFY(!w.window.files().save());
        QCOMPARE(suggested, folder.path);
    }

    void comparisonsBelongToTheProject()
    {
        const Folder folder(kAB);
        {
            test::WindowFixture w;
            QVERIFY(folder.open(w.window));
            QVERIFY(QTest::qWaitFor(
                [&] { return w.window.plans().document(0).isAnswered() && w.window.plans().document(1).isAnswered(); },
                test::kPatience));
            w.window.showPage(QStringLiteral("compare"));
            ComparePage& page = w.window.comparePage();
            const Expected<MeasuredTable> table = view::read_table(kTable, w.presets);
            QVERIFY(table.has_value());
            page.addRows(*table, {2});
            page.addPlans({*w.window.plans().document(0).resolved()});
            page.addSeries(*table);
            QTRY_COMPARE(compared(w.window).size(), 4);
            w.child<QComboBox>("compareReference")->setCurrentIndex(1);
            page.sets().save(QStringLiteral("All four"));
            w.window.plans().close(1);
            QTRY_COMPARE(compared(w.window).size(), 3);
            w.window.projects().keep();
        }
        const Json set = folder.file().at("comparisons").at("All four");
        QCOMPARE(exactText(set.at("plans").dump()), QStringLiteral(R"(["a.plan.json","b.plan.json"])"));
        QCOMPARE(exactText(set.at("entries").at(0).at("table").dump()),
            QStringLiteral("\"published:llama31_8b_4d_a100_h100.csv\""));
        QVERIFY(set.at("entries").at(1).at("layout").is_object());
        QCOMPARE(exactText(set.at("reference").dump()), QStringLiteral("\"b.plan.json\""));
        QVERIFY(!set.at("series").empty());
        QVERIFY2(!QByteArray::fromStdString(folder.file().dump()).contains(folder.path.toUtf8()), "an absolute path");
        // Elsewhere, where nothing of it is known.
        const Folder other(kAB);
        other.write(QLatin1String(view::kProjectFile), test::readFile(folder.at(QLatin1String(view::kProjectFile))));
        test::WindowFixture w;
        QVERIFY(other.open(w.window));
        w.window.showPage(QStringLiteral("compare"));
        QTRY_COMPARE_WITH_TIMEOUT(compared(w.window).size(), 3, test::kPatience);
        w.window.comparePage().sets().show(QStringLiteral("All four")); // opens what is not open
        QCOMPARE(openPlans(w.window), kAB);
        QTRY_COMPARE_WITH_TIMEOUT(compared(w.window).size(), 4, test::kPatience);
        QTRY_COMPARE(w.window.comparePage().model().reference(), 1);
        QVERIFY(w.window.openPlan(
            test::Home::the().write(QStringLiteral("third.plan.json"), test::clusterPlan()).toStdString()));
        QTRY_COMPARE_WITH_TIMEOUT(compared(w.window).size(), 5, test::kPatience);
        w.window.comparePage().sets().show(QStringLiteral("All four")); // takes out what is not in it
        QTRY_COMPARE_WITH_TIMEOUT(compared(w.window).size(), 4, test::kPatience);
    }

    void viewsAndNotesBelongToTheProject()
    {
        const Folder folder(kAB);
        const QString name = QStringLiteral("Short");
        {
            test::WindowFixture w;
            QVERIFY(folder.open(w.window));
            auto* table = w.child<DataTable>("history");
            table->setColumnHidden(HistoryModel::model, true);
            QVERIFY(saveView(*table, name));
            const test::WhenDialog<QDialog> notes([](QDialog& dialog) {
                dialog.findChild<QPlainTextEdit*>()->setPlainText(QStringLiteral("TP 8 first.\nThen EP."));
                test::click(*dialog.findChild<QPushButton*>(QStringLiteral("keepNotes")));
            });
            w.window.projects().askNotes();
            QVERIFY(notes.came());
            QVERIFY(w.window.projects().close());
            QVERIFY(viewsOf(*table).isEmpty()); // it was the project's
        }
        QCOMPARE(folder.part("notes"), QStringLiteral(R"(["TP 8 first.","Then EP."])"));
        const Json view = folder.file().at("views").at("history").at("Short");
        QVERIFY(view.at("columns").size() > 5);
        QVERIFY(view.at("columns").at(0).is_string());
        test::WindowFixture w;
        QVERIFY(folder.open(w.window));
        auto* table = w.child<DataTable>("history");
        QCOMPARE(viewsOf(*table), QStringList{name});
        QVERIFY(!table->isColumnHidden(HistoryModel::model));
        QVERIFY(showView(*table, name));
        QVERIFY(table->isColumnHidden(HistoryModel::model));
        QCOMPARE(w.window.projects().project()->notes(), std::string("TP 8 first.\nThen EP.\n"));
        QVERIFY(forgetView(*table, name));
        QVERIFY(!folder.file().contains("views"));
    }

    void aFileThatSomebodyElseWroteIsFollowedOrAskedAbout()
    {
        const Folder folder(kAB);
        test::WindowFixture w;
        QVERIFY(folder.open(w.window));
        const PlanDocument* kept = &w.window.plans().document(1);
        folder.write(QLatin1String(view::kProjectFile), R"({"fourfold_project": 1, "plans": ["b.plan.json"]})");
        w.window.projects().look(); // as when the window is shown again; the file is watched as well
        QCOMPARE(openPlans(w.window), QStringList{QStringLiteral("b.plan.json")});
        QVERIFY(&w.window.document() == kept); // with its undo history
        // With changes on both sides nobody's are lost.
        w.document().setValue("training.micro_batch", 2, QStringLiteral("Change"));
        w.window.files().duplicate();
        QVERIFY(w.window.savePlanAs(folder.at(QStringLiteral("c.plan.json")).toStdString()));
        folder.write(QLatin1String(view::kProjectFile),
            R"({"fourfold_project": 1, "plans": ["a.plan.json"], "notes": ["theirs"]})");
        w.window.projects().keep();
        QVERIFY(w.window.banner().isVisible());
        QCOMPARE(folder.part("plans"), QStringLiteral(R"(["a.plan.json"])")); // theirs, still
        const auto answer = [&](const QString& text) {
            for (auto* button : w.window.banner().findChildren<QPushButton*>()) {
                if (button->text() == text)
                    return test::click(*button);
            }
            QFAIL("no such answer");
        };
        answer(QStringLiteral("Keep mine"));
        QCOMPARE(folder.part("plans"), QStringLiteral(R"(["b.plan.json","c.plan.json"])"));
        QVERIFY(!w.window.banner().isVisible());
        // The watch, and the other answer.
        folder.write(QLatin1String(view::kProjectFile), R"({"fourfold_project": 1, "plans": ["a.plan.json"]})");
        QTRY_VERIFY(w.window.banner().isVisible());
        test::DialogWatch discard([](QMessageBox& box) { box.button(QMessageBox::Discard)->click(); });
        answer(QStringLiteral("Reload"));
        QCOMPARE(openPlans(w.window), QStringList{QStringLiteral("a.plan.json")});
        QCOMPARE(folder.part("plans"), QStringLiteral(R"(["a.plan.json"])"));
    }

    // As between the marks of a merge: said in a line, however often the folder changes, and forgotten once it is
    // whole.
    void aFileThatSomebodyElseDamagedIsToldWithoutADialog()
    {
        const Folder folder(kAB);
        test::WindowFixture w;
        QVERIFY(folder.open(w.window));
        const QStringList before = openPlans(w.window);
        test::DialogWatch dialogs([](QMessageBox& box) { box.accept(); });
        folder.write(QLatin1String(view::kProjectFile), "<<<<<<< HEAD\n{}\n=======\n");
        w.window.projects().look();
        w.window.projects().look();
        QVERIFY(w.window.banner().isVisible());
        QVERIFY2(
            w.window.banner().text().contains(QStringLiteral("not valid JSON")), qPrintable(w.window.banner().text()));
        QCOMPARE(openPlans(w.window), before);
        folder.write(QLatin1String(view::kProjectFile), R"({"fourfold_project": 1, "plans": ["b.plan.json"]})");
        w.window.projects().look();
        QVERIFY(!w.window.banner().isVisible());
        QCOMPARE(openPlans(w.window), QStringList{QStringLiteral("b.plan.json")});
        QCOMPARE(dialogs.seen(), 0);
    }

    void theProjectComesBackWithTheSession()
    {
        Session().save();
        const Folder folder(kAB);
        MainWindow::Options withSession = test::WindowFixture::options();
        withSession.session = true;
        withSession.journal = test::Home::the().path(QStringLiteral("journal")).toStdString();
        const Presets presets;
        {
            test::FreshWindow window(presets, withSession);
            window.show();
            window.openStartPlan();
            QVERIFY(folder.open(window));
            window.document().setValue("training.micro_batch", 4, QStringLiteral("Change"));
            test::DialogWatch save([](QMessageBox& box) { box.button(QMessageBox::Save)->click(); });
            QVERIFY(window.close());
        }
        {
            test::FreshWindow window(presets, withSession);
            window.show();
            window.openStartPlan();
            QCOMPARE(openPlans(window), kAB);
            QCOMPARE(window.projects().name(), QFileInfo(folder.path).fileName());
            // The finder has its commands, with the projects of before.
            QStringList found;
            for (const Command& command : CommandPalette::commandsOf(&window, {}))
                found << command.text;
            QVERIFY(found.contains(folder.path));
            QVERIFY(found.contains(QStringLiteral("Close project")));
            QVERIFY(window.close());
        }
        QDir(folder.path).removeRecursively();
        test::FreshWindow window(presets, withSession);
        window.show();
        window.openStartPlan();
        QVERIFY2(window.banner().text().contains(QStringLiteral("no such folder")), qPrintable(window.banner().text()));
        QVERIFY(window.projects().name().isEmpty());
        QVERIFY(window.close());
    }
};

int main(int argc, char** argv)
{
    return test::runTests<ProjectTest>(argc, argv);
}

#include "project_test.moc"
