// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/window_drop.h"

#include "app/models/shared/text.h"

#include <QDropEvent>
#include <QMimeData>
#include <QTimer>
#include <QUrl>

#include <utility>

namespace fourfold::ui {

namespace {
constexpr qsizetype kMostFiles = 16;
}

WindowDrop::WindowDrop(QWidget* window)
    : QObject(window)
    , m_window(window)
    , m_hint(new QLabel(window))
{
    m_hint->setObjectName(QStringLiteral("dropHint"));
    m_hint->setProperty("role", "drophint");
    m_hint->setAlignment(Qt::AlignCenter);
    m_hint->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_hint->hide();
    window->setAcceptDrops(true);
    window->installEventFilter(this);
}

void WindowDrop::look(const QMimeData& data)
{
    m_items.clear();
    m_problems.clear();
    for (const QUrl& url : data.urls().mid(0, kMostFiles)) {
        if (!url.isLocalFile())
            continue;
        Expected<DroppedItem> item = classify(url.toLocalFile().toStdString());
        if (item)
            m_items.push_back(*std::move(item));
        else
            m_problems.push_back(std::move(item).error());
    }
}

void WindowDrop::showHint()
{
    QStringList lines;
    for (const DroppedItem& item : m_items)
        lines << whatItDoes(item);
    for (const Problem& problem : m_problems)
        lines << fromUtf8(problem.line());
    m_hint->setText(lines.join(QLatin1Char('\n')));
    m_hint->setGeometry(m_window->rect().adjusted(24, 24, -24, -24));
    m_hint->raise();
    m_hint->show();
}

bool WindowDrop::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_window)
        return false;
    switch (event->type()) {
    case QEvent::DragEnter: {
        auto* enter = static_cast<QDragEnterEvent*>(event);
        look(*enter->mimeData());
        if (m_items.empty() && m_problems.empty())
            return false;
        showHint();
        enter->acceptProposedAction();
        return true;
    }
    case QEvent::DragMove:
        static_cast<QDragMoveEvent*>(event)->acceptProposedAction();
        return true;
    case QEvent::DragLeave:
        m_hint->hide();
        return true;
    case QEvent::Drop: {
        auto* drop = static_cast<QDropEvent*>(event);
        m_hint->hide();
        look(*drop->mimeData());
        drop->acceptProposedAction();
        // After the drag is over: a dialog would keep the other program waiting.
        QTimer::singleShot(
            0, this, [this, items = std::exchange(m_items, {}), problems = std::exchange(m_problems, {})] {
                for (const DroppedItem& item : items)
                    emit dropped(item);
                for (const Problem& problem : problems)
                    emit refused(problem);
            });
        return true;
    }
    default:
        return false;
    }
}

} // namespace fourfold::ui
