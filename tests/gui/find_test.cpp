// SPDX-License-Identifier: GPL-3.0-or-later
// *Find a cluster* in the window: from the name of a host or a login to the plan's hardware.
#include "app/desktop/pages/runs/find_dialog.h"
#include "app/desktop/pages/runs/run_form.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "tests/fake_slurm.h"
#include "tests/gui/drawn_text.h"
#include "tests/gui/hands.h"
#include "tests/gui/runs_fixture.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;

using test::kPatience;
using Fixture = test::RunsFixture;

class FindTest : public QObject {
    Q_OBJECT
private slots:
    // What could not be reached is typed anew at once: the field has no focus while the look goes on.
    void aNameThatWasNotFoundIsTypedAnew()
    {
        Fixture w(test::tinyPlan(5, 5));
        bool ended = false, again = false;
        const test::WhenDialog<FindDialog> dialog([&](FindDialog& find) {
            auto* name = find.findChild<QLineEdit*>(QStringLiteral("findName"));
            const auto* words = find.findChild<QLabel*>(QStringLiteral("findSaid"));
            QTest::keyClicks(name, QStringLiteral("127.0.0.1:9"));
            QTest::keyClick(&find, Qt::Key_Return);
            QVERIFY(!name->isEnabled());
            ended = QTest::qWaitFor([&] { return name->isEnabled(); }, kPatience);
            QVERIFY2(words->text().contains(QStringLiteral("127.0.0.1")), qPrintable(words->text()));
            again = find.focusWidget() == name && name->selectedText() == name->text();
            find.reject();
        });
        QTest::mouseClick(w.button("findCluster"), Qt::LeftButton);
        QVERIFY(dialog.came() && ended);
        QVERIFY(again);
    }

    // From a name to the plan's hardware: a click, a word, Enter and Enter.
    void aClusterIsFoundAndBecomesThePlansHardware()
    {
        Fixture w(test::tinyPlan(5, 5));
        const QTemporaryDir tools;
        const QByteArray before = qgetenv("PATH");
        qputenv("PATH",
            QByteArray::fromStdString(fakes::put_fake_slurm(tools.path().toStdString()).string()) + ':' + before);
        QStringList said;
        QString unreadable, partition;
        bool found = false;
        const test::WhenDialog<FindDialog> dialog([&](FindDialog& find) {
            const auto line = [&](const char* name) { return find.findChild<QLineEdit*>(QString::fromLatin1(name)); };
            const auto* words = find.findChild<QLabel*>(QStringLiteral("findSaid"));
            auto* take = find.findChild<QPushButton*>(QStringLiteral("findTake"));
            QVERIFY(!take->isEnabled());
            QTest::keyClicks(line("findName"), QStringLiteral("-x"));
            QTest::keyClick(&find, Qt::Key_Return);
            said << words->text();
            line("findName")->selectAll();
            QTest::keyClicks(line("findName"), QStringLiteral("local"));
            QTest::keyClick(&find, Qt::Key_Return);
            found = QTest::qWaitFor([&] { return take->isEnabled(); }, kPatience);
            said << words->text();
            partition = find.findChild<QComboBox*>(QStringLiteral("findPartition"))->currentData().toString();
            line("findOptions")->setText(QStringLiteral("--wrap=x"));
            said << words->text();
            QVERIFY(!take->isEnabled());
            line("findOptions")->clear();
            line("findAccount")->setText(QStringLiteral("project"));
            line("findId")->setText(QStringLiteral("our-slurm"));
            QTest::qWait(50); // laid out anew
            unreadable = (test::unreadableTexts(find) + test::shortenedWithoutTip(find)).join(QLatin1Char('\n'));
            if (const QString file = qEnvironmentVariable("FOURFOLD_PICTURE"); !file.isEmpty())
                find.grab().save(file);
            QTest::keyClick(&find, Qt::Key_Return);
        });
        QTest::mouseClick(w.button("findCluster"), Qt::LeftButton);
        qputenv("PATH", before);
        QVERIFY(dialog.came());
        QVERIFY(found);
        QCOMPARE(said.size(), 3);
        QVERIFY2(said[0].contains(QStringLiteral("is not a host name")), qPrintable(said[0]));
        QVERIFY2(said[1].contains(QStringLiteral("nearest cluster")) || said[1].contains(QStringLiteral("a100")),
            qPrintable(said[1]));
        QVERIFY2(said[2].contains(QStringLiteral("--wrap=x")), qPrintable(said[2]));
        QCOMPARE(partition, QStringLiteral("gpu"));
        QCOMPARE(unreadable, QString());
        QCOMPARE(w.runs().form().target(), QStringLiteral("our-slurm"));
        const Expected<Target> target = load_target("our-slurm");
        QVERIFY(target.has_value());
        QCOMPARE(target->slurm->partition, std::string("gpu"));
        QCOMPARE(target->slurm->account, std::string("project"));
        const Json& plan = w.document().plan().document;
        QCOMPARE(plan["gpus"].get<int>(), 8);
        const Expected<Cluster> cluster = Presets().cluster(plan["cluster"].get<std::string>());
        QVERIFY(cluster && cluster->gpu.id.starts_with("a100"));
    }
};

int main(int argc, char** argv)
{
    return test::runTests<FindTest>(argc, argv);
}

#include "find_test.moc"
