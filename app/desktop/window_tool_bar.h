// SPDX-License-Identifier: GPL-3.0-or-later
// The tool bar: files, undo, the pages as tabs, finder, search and run.
#pragma once

#include <QToolBar>

class QPushButton;
class QTabBar;

namespace fourfold::ui {

class KeyBindings;

class WindowToolBar : public QToolBar {
    Q_OBJECT
public:
    // `files` and `edits` are the actions at the left; `keys` outlives this.
    WindowToolBar(const QList<QAction*>& files, const QList<QAction*>& edits, const KeyBindings& keys);
    void showPage(int index); // which buttons there are depends on it
    void showRunning(const QString& state); // a mark on the tab of runs, and what its tip says; empty: nothing runs
    void showKeys(); // in the tips
    void measure(); // again: its words or its size may have changed
    void fit(); // pictures without words where the window is too narrow for both

signals:
    void pageChosen(int index);
    void findRequested();
    void searchRequested();
    void runRequested();

private:
    void showWords(bool words);

    const KeyBindings& m_keys;
    QTabBar* m_pages;
    QPushButton *m_find, *m_search, *m_run;
    QAction *m_searchAction, *m_runAction; // hold their buttons
    int m_wordyWidth = 0; // of the window from which on there is room for the words; 0: not known
};

// "Text (Ctrl+K)", or only the text without keys.
QString withKeys(const QString& text, const QString& keys);

} // namespace fourfold::ui
