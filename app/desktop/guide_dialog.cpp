// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/guide_dialog.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/models/shared/text.h"
#include "core/base/json.h"
#include "core/base/paths.h"

#include <QDir>
#include <QListWidget>
#include <QTextBrowser>

namespace fourfold::ui {

namespace {
QString titleOf(const QString& markdown)
{
    return markdown.section(QLatin1Char('\n'), 0, 0).remove(QLatin1Char('#')).trimmed();
}

QString read(const QString& file)
{
    const Expected<std::string> text = read_text_file(file.toStdString());
    return text ? fromUtf8(*text) : fromUtf8(text.error().line());
}
} // namespace

GuideDialog::GuideDialog(QWidget* parent)
    : QDialog(parent)
    , m_chapters(new QListWidget)
    , m_text(new QTextBrowser)
{
    setObjectName(QStringLiteral("guide"));
    setWindowTitle(tr("User's guide"));
    resizeDialog(this, 900, 620);
    m_chapters->setAccessibleName(tr("Chapters"));
    m_chapters->setFrameShape(QFrame::NoFrame);
    m_chapters->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_chapters->setTextElideMode(Qt::ElideRight);
    m_chapters->setSpacing(px(3));
    m_text->setAccessibleName(tr("Text of the chapter"));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->document()->setDocumentMargin(px(16));
    for (const std::filesystem::path& folder : resource_folders()) {
        const QDir guide(exactText((folder / "guide").string()));
        for (const QString& name : guide.entryList({QStringLiteral("*.md")}, QDir::Files, QDir::Name))
            m_files << guide.filePath(name);
        if (!m_files.isEmpty())
            break; // the first folder that has a guide has all of it
    }
    for (const QString& file : m_files)
        m_chapters->addItem(titleOf(read(file)));
    setLayout(columnOf({makeSplitter(QString(), Qt::Horizontal, {m_chapters, m_text}, {28, 72})}));
    connect(m_chapters, &QListWidget::currentRowChanged, this, &GuideDialog::showChapter);
    m_chapters->setCurrentRow(0);
}

int GuideDialog::chapters() const
{
    return static_cast<int>(m_files.size());
}

void GuideDialog::showChapter(int index)
{
    if (index < 0 || index >= m_files.size())
        return;
    m_chapters->setCurrentRow(index);
    m_text->setMarkdown(read(m_files[index]));
}

void GuideDialog::showChapterOf(const QString& page)
{
    for (int i = 0; i < m_files.size(); ++i) {
        if (m_files[i].endsWith(QStringLiteral("-%1.md").arg(page)))
            showChapter(i);
    }
}

} // namespace fourfold::ui
