// SPDX-License-Identifier: GPL-3.0-or-later
// What the GUI tests share: a home of their own, plans, a window, and answers to dialogs.
#pragma once

#include "app/desktop/appearance.h"
#include "app/desktop/main_window.h"
#include "core/plan/presets.h"

#include <QApplication>
#include <QString>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <functional>

class QMessageBox;

namespace fourfold::ui::test {

// The user's folders point into a temporary one for the life of the program; make it before anything else.
class Home {
public:
    Home();
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }
    // Writes a file and returns its path.
    QString write(const QString& name, const QByteArray& text) const;
    static const Home& the(); // the program's

private:
    QTemporaryDir m_folder;
};

// Llama 3.1 8B on 16 H100 of TSUBAME4: tp 2, dp 8, with a key that nothing reads.
QByteArray clusterPlan();
// A tiny Llama on two CPU ranks for the fake trainer: `steps` of `milliseconds` each.
QByteArray tinyPlan(int steps, int milliseconds);

QByteArray readFile(const QString& file);

inline constexpr int kPatience = 120'000; // milliseconds; CI has two loaded cores

// A main window as the program makes it: before there is a style sheet. With one, what is in it is polished again each
// time that something around it gets a parent, which takes longer than everything else.
class FreshWindow : public MainWindow {
public:
    FreshWindow(const Presets& presets, Options options);
};

// A main window without a session, over a history of the test's own.
struct WindowFixture {
    explicit WindowFixture(const std::filesystem::path& trainer = {}, QSize size = {1280, 800});
    bool open(const QString& name, const QByteArray& plan = clusterPlan()); // writes the plan and opens it
    bool answered();
    // Another switch of the Plan page: "Rank mesh", "Advice".
    void showPicture(const QString& name);
    template <typename Widget>
    Widget* child(const char* name) const
    {
        return window.findChild<Widget*>(QString::fromLatin1(name));
    }
    PlanDocument& document() { return window.document(); }
    static MainWindow::Options options(const std::filesystem::path& trainer = {});
    static std::filesystem::path historyFile();

    Presets presets;
    FreshWindow window;
};

// A program of tests: a home, the light theme, then the tests.
template <typename Tests>
int runTests(int argc, char** argv)
{
    const Home home;
    QApplication application(argc, argv);
    prepareAppearance();
    applyTheme(ThemeChoice::light);
    Tests tests;
    return QTest::qExec(&tests, argc, argv);
}

// Waits for the next message box, hands it to `answer`, and closes it if that did not. Counts what it saw.
class DialogWatch {
public:
    explicit DialogWatch(std::function<void(QMessageBox&)> answer);
    [[nodiscard]] int seen() const { return m_seen; }

private:
    std::function<void(QMessageBox&)> m_answer;
    QTimer m_timer;
    int m_seen = 0;
};

} // namespace fourfold::ui::test
