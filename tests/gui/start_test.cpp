// SPDX-License-Identifier: GPL-3.0-or-later
// A plan from three answers: from the first window to a plan of one's own by a handful of keys.
#include "app/desktop/dialogs/start_dialog.h"
#include "app/view/start/start.h"
#include "tests/gui/hands.h"
#include "tests/gui/support.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRegularExpression>
#include <QSet>
#include <QSpinBox>
#include <QTest>

using namespace fourfold;
using namespace fourfold::ui;
using namespace fourfold::ui::test;

namespace {

template <typename Widget>
Widget& part(const StartDialog& dialog, const char* name)
{
    return *dialog.findChild<Widget*>(QString::fromLatin1(name));
}

void typeInto(QWidget& field, const char* text)
{
    field.setFocus();
    QTest::keyClick(&field, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(&field, QString::fromLatin1(text));
}

void enter(StartDialog& dialog)
{
    QTest::keyClick(&dialog, Qt::Key_Return);
}

} // namespace

class StartTest : public QObject {
    Q_OBJECT
private slots:
    // The count: a shortcut, three typed answers, Enter and Enter.
    void threeAnswersMakeAPlan()
    {
        WindowFixture w;
        w.window.openStartPlan();
        QVERIFY(w.answered());
        bool found = false;
        const WhenDialog<StartDialog> dialog([&](StartDialog& start) {
            typeInto(part<QComboBox>(start, "startModel"), "llama 405b");
            typeInto(part<QSpinBox>(start, "startGpus"), "512");
            typeInto(part<QComboBox>(start, "startCluster"), "dgx h100");
            enter(start);
            auto& choices = part<QListWidget>(start, "startChoices");
            found = QTest::qWaitFor([&] { return choices.count() > 1; }, kPatience);
            enter(start);
        });
        QTest::keyClick(&w.window, Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(dialog.came());
        QVERIFY(found);
        QVERIFY(w.answered());
        const auto& plan = w.document().resolved();
        QVERIFY(plan);
        QCOMPARE(QString::fromStdString(plan->model.id), QStringLiteral("llama-3.1-405b"));
        QCOMPARE(plan->gpus, 512);
        QVERIFY(w.document().isDirty()); // it is in no file yet
        QVERIFY(w.document().prediction()->fit != Fit::no);
    }

    // A shortcut, one answer, Enter: the plan stands there with its reasons, and one more Enter takes it.
    void oneQuestionMakesAPlan()
    {
        WindowFixture w;
        w.window.openStartPlan();
        QVERIFY(w.answered());
        QString said;
        int choices = 0, gpus = 0;
        QSet<QString> layouts; // they are told apart without their figures
        const QRegularExpression speed(QStringLiteral("\\n.*speed|\\n.*GiB"));
        const WhenDialog<StartDialog> dialog([&](StartDialog& start) {
            typeInto(part<QComboBox>(start, "startModel"), "llama 405b on 512 x dgx h100");
            enter(start);
            auto& list = part<QListWidget>(start, "startChoices");
            (void)QTest::qWaitFor([&] { return list.count() > 1; }, kPatience);
            choices = list.count();
            for (int i = 0; i < choices; ++i)
                layouts.insert(list.item(i)->text().remove(speed));
            gpus = part<QSpinBox>(start, "startGpus").value();
            said = part<QComboBox>(start, "startModel").currentText() + QLatin1Char('|')
                + part<QComboBox>(start, "startCluster").currentText();
            enter(start);
        });
        QTest::keyClick(&w.window, Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(dialog.came());
        QVERIFY2(choices > 1, qPrintable(said));
        QCOMPARE(layouts.size(), choices);
        QCOMPARE(said, QStringLiteral("llama 405b|dgx h100")); // in the fields, where they can be changed
        QCOMPARE(gpus, 512);
        QVERIFY(w.answered());
        QCOMPARE(QString::fromStdString(w.document().resolved()->model.id), QStringLiteral("llama-3.1-405b"));
        QCOMPARE(w.document().resolved()->gpus, 512);
        QVERIFY(w.document().prediction()->fit != Fit::no);
    }

    // What is no whole question stays a model.
    void wordsOfAModelAreNoQuestion()
    {
        using Questions = view::Start::Questions;
        const auto spread = [](const char* model) {
            const Questions all = view::Start::spread({model, "8", "mine", ""});
            return QString::fromStdString(all.model + "|" + all.gpus + "|" + all.cluster);
        };
        QCOMPARE(spread("llama on wheels"), QStringLiteral("llama on wheels|8|mine"));
        QCOMPARE(spread("dir/on 5/config.json"), QStringLiteral("dir/on 5/config.json|8|mine"));
        QCOMPARE(spread("llama 8b on 16"), QStringLiteral("llama 8b|16|mine"));
        QCOMPARE(spread("llama 405b ON 16,384 grand teton"), QStringLiteral("llama 405b|16384|grand teton"));
    }

    void whatWillNotDoIsSaidAndNothingIsLost()
    {
        WindowFixture w;
        QVERIFY(w.open(QStringLiteral("mine.plan.json")));
        QVERIFY(w.answered());
        const std::string before = to_text(w.document().plan());
        QStringList said, nothing;
        bool reported = false;
        const WhenDialog<StartDialog> dialog([&](StartDialog& start) {
            auto& words = part<QLabel>(start, "startSaid");
            const int width = start.width();
            part<QComboBox>(start, "startModel").clearEditText();
            enter(start);
            nothing << words.text();
            part<QComboBox>(start, "startModel").setEditText(QStringLiteral("llama 405b"));
            part<QComboBox>(start, "startCluster").clearEditText();
            enter(start);
            nothing << words.text();
            part<QComboBox>(start, "startModel").setEditText(QString(3000, QLatin1Char('x')));
            enter(start);
            QTest::qWait(20); // laid out
            QCOMPARE(start.width(), width); // what was typed does not widen it
            QVERIFY(words.text().contains(QStringLiteral("is no model")));
            typeInto(part<QComboBox>(start, "startModel"), "qwen3");
            enter(start);
            said << words.text();
            typeInto(part<QComboBox>(start, "startModel"), "llama-3.1-405b");
            typeInto(part<QComboBox>(start, "startCluster"), "dgx-h100");
            typeInto(part<QSpinBox>(start, "startGpus"), "8");
            typeInto(part<QLineEdit>(start, "startExtent"), "a lot");
            enter(start);
            said << words.text();
            typeInto(part<QLineEdit>(start, "startExtent"), "15T");
            enter(start);
            reported = QTest::qWaitFor([&] { return words.text().contains(QStringLiteral("it fits on")); }, kPatience);
            said << words.text();
            QVERIFY(!part<QPushButton>(start, "startTake").isEnabled());
            start.reject();
        });
        QTest::keyClick(&w.window, Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(dialog.came());
        QVERIFY(reported);
        QCOMPARE(said.size(), 3);
        QCOMPARE(nothing.size(), 2);
        QVERIFY2(nothing[0].startsWith(QStringLiteral("no model is named")), qPrintable(nothing[0]));
        QVERIFY2(nothing[1].startsWith(QStringLiteral("no cluster is named")), qPrintable(nothing[1]));
        QVERIFY2(said[0].contains(QStringLiteral("may mean qwen3-")), qPrintable(said[0]));
        QVERIFY2(said[1].contains(QStringLiteral("is no amount of training")), qPrintable(said[1]));
        QVERIFY2(said[2].contains(QStringLiteral("it fits on")), qPrintable(said[2]));
        QCOMPARE(to_text(w.document().plan()), before);
    }
};

int main(int argc, char** argv)
{
    return runTests<StartTest>(argc, argv);
}
#include "start_test.moc"
