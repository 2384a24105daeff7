// SPDX-License-Identifier: GPL-3.0-or-later
// A window at Runs, with the real launcher and agent and a trainer that trains nothing. The program that includes this
// says where the built programs are (FOURFOLD_BIN_DIR).
#pragma once

#include "app/desktop/pages/runs/run_details.h"
#include "app/desktop/pages/runs/run_form.h"
#include "app/desktop/pages/runs/runs_page.h"
#include "app/models/shared/text.h"
#include "core/history/store.h"
#include "tests/gui/support.h"

#include <QFile>
#include <QMessageBox>
#include <QProcess>
#include <QPushButton>

namespace fourfold::ui::test {

// The command line's `fourfold run PLAN` in the windows' history, killed once the run is under way; returns the run's
// id.
inline QString runOfAKilledProgram(const QString& folder, const QString& plan)
{
    for (const auto& [from, to] : {std::pair{"fourfold", "fourfold"}, std::pair{"fourfold-agent", "fourfold-agent"},
             std::pair{"../tests/fake-trainer", "fourfold-trainer"}})
        QFile::copy(QStringLiteral(FOURFOLD_BIN_DIR "/%1").arg(QLatin1String(from)),
            folder + QLatin1Char('/') + QLatin1String(to));
    // The windows of these tests keep their history in a place of its own.
    const auto usual = HistoryStore::default_file();
    std::filesystem::create_directories(usual.parent_path());
    std::filesystem::remove(usual);
    if (!HistoryStore::open(WindowFixture::historyFile()))
        return {};
    std::filesystem::create_symlink(WindowFixture::historyFile(), usual);
    QProcess program;
    program.start(folder + QStringLiteral("/fourfold"), {QStringLiteral("run"), plan, QStringLiteral("--json")});
    QByteArray said;
    const bool underWay = QTest::qWaitFor(
        [&] { return (said += program.readAllStandardOutput()).contains("\"event\":\"step\""); }, kPatience);
    program.kill(); // by the id of the process that was started here
    program.waitForFinished();
    if (!underWay) {
        qWarning() << said << program.readAllStandardError();
        return {};
    }
    const auto store = HistoryStore::open(usual, StoreMode::read_only);
    const auto id = store ? store->full_id("last") : Expected<std::string>(store.error());
    return id ? fromUtf8(*id) : QString();
}

struct RunsFixture : WindowFixture {
    explicit RunsFixture(const QByteArray& plan)
        : WindowFixture(FOURFOLD_BIN_DIR "/../tests/fake-trainer")
    {
        open(QStringLiteral("tiny.plan.json"), plan);
        window.showPage(QStringLiteral("runs"));
    }
    RunsPage& runs() { return window.runsPage(); }
    LiveRun& live() { return window.liveRun(); }
    QPushButton* button(const char* name) { return child<QPushButton>(name); }
    // Presses Stop and answers the question; how often it was asked.
    int stop(bool really = true)
    {
        const DialogWatch watch([really](QMessageBox& box) {
            for (QAbstractButton* button : box.buttons()) {
                if (box.buttonRole(button) == (really ? QMessageBox::DestructiveRole : QMessageBox::RejectRole))
                    button->click();
            }
        });
        QTest::mouseClick(button("stop"), Qt::LeftButton);
        return watch.seen();
    }
    bool ends()
    {
        return QTest::qWaitFor([this] { return !window.controller().isRunning(); }, kPatience);
    }
};

} // namespace fourfold::ui::test
