// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/plan_watch.h"

#include "app/models/shared/text.h"

namespace fourfold::ui {

namespace {
constexpr int kSettleMilliseconds = 150;

QString pathText(const std::filesystem::path& file)
{
    return file.empty() ? QString() : exactText(std::filesystem::absolute(file).string());
}
} // namespace

PlanWatch::PlanWatch(PlanTabs& plans, QObject* parent)
    : QObject(parent)
    , m_plans(plans)
{
    m_later.setSingleShot(true);
    m_later.setInterval(kSettleMilliseconds);
    connect(&m_later, &QTimer::timeout, this, &PlanWatch::look);
    connect(&m_files, &QFileSystemWatcher::fileChanged, &m_later, qOverload<>(&QTimer::start));
    for (const auto& moved : {&PlanTabs::titleChanged, &PlanTabs::removed})
        connect(&plans, moved, this, &PlanWatch::follow);
    follow();
}

void PlanWatch::follow()
{
    QStringList wanted;
    for (int i = 0; i < m_plans.count(); ++i) {
        if (const QString file = pathText(m_plans.document(i).file()); !file.isEmpty())
            wanted << file;
    }
    for (const QString& file : m_files.files()) {
        if (!wanted.removeOne(file))
            m_files.removePath(file);
    }
    if (!wanted.isEmpty())
        m_files.addPaths(wanted); // one that is not there is not watched: saving it watches it
}

void PlanWatch::look()
{
    follow(); // a file that was replaced is another one to the system
    for (int i = 0; i < m_plans.count(); ++i) {
        if (m_plans.document(i).isChangedOnDisk())
            emit changedOnDisk(i);
    }
}

} // namespace fourfold::ui
