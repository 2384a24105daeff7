// SPDX-License-Identifier: GPL-3.0-or-later
// The user's guide: the Markdown files of resources/guide, a chapter each, in the order of the numbers that begin their
// names.
#pragma once

#include <QDialog>

class QListWidget;
class QTextBrowser;

namespace fourfold::ui {

class GuideDialog : public QDialog {
    Q_OBJECT
public:
    explicit GuideDialog(QWidget* parent);
    [[nodiscard]] int chapters() const;
    void showChapter(int index);
    void showChapterOf(const QString& page); // the file NN-PAGE.md, if there is one

private:
    QListWidget* m_chapters;
    QTextBrowser* m_text;
    QStringList m_files;
};

} // namespace fourfold::ui
