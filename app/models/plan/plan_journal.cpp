// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/plan_journal.h"

#include "app/models/shared/text.h"

#include "core/base/json_member.h"
#include "core/base/paths.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace fourfold::ui {

namespace {
constexpr int kDelayMilliseconds = 400; // a spin box held down is one write

std::filesystem::path lockOf(std::filesystem::path journal)
{
    return journal.replace_extension(".lock");
}

// The lock of a journal, or -1 where another program has it.
int takeLock(const std::filesystem::path& journal)
{
    const int lock = ::open(lockOf(journal).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        return lock;
    if (lock >= 0)
        ::close(lock);
    return -1;
}

void removeJournal(const std::filesystem::path& journal, int lock)
{
    std::error_code error;
    std::filesystem::remove(journal, error);
    std::filesystem::remove(lockOf(journal), error);
    if (lock >= 0)
        ::close(lock);
}
} // namespace

PlanJournal::PlanJournal(PlanTabs& plans, std::filesystem::path folder)
    : m_plans(plans)
    , m_folder(std::move(folder))
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(kDelayMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &PlanJournal::flush);
    connect(&plans, &PlanTabs::edited, this, [this] { m_timer.start(); });
}

PlanJournal::~PlanJournal()
{
    if (m_lock >= 0)
        ::close(m_lock);
    for (const Taken& taken : m_taken)
        ::close(taken.lock);
}

std::filesystem::path PlanJournal::defaultFolder()
{
    return data_folder() / "journal";
}

std::filesystem::path PlanJournal::file() const
{
    return m_folder / (std::to_string(QCoreApplication::applicationPid()) + ".json");
}

std::vector<PlanJournal::Entry> PlanJournal::takeLeftovers()
{
    std::vector<Entry> entries;
    std::error_code error;
    std::vector<std::filesystem::path> journals;
    for (std::filesystem::directory_iterator at(m_folder, error), end; !error && at != end; at.increment(error)) {
        if (at->path().extension() == ".json" && (m_lock < 0 || at->path() != file()))
            journals.push_back(at->path());
    }
    for (const std::filesystem::path& journal : journals) {
        const int lock = takeLock(journal);
        if (lock < 0)
            continue; // its program lives, or another one takes it over
        m_taken.push_back({journal, lock});
        const Expected<Json> json = read_json_file(journal);
        if (!json || !json->is_array())
            continue; // damaged: there is nothing to restore
        for (const Json& entry : *json) {
            if (entry.is_object() && entry.contains("plan") && entry["plan"].is_object())
                entries.push_back({entry["plan"], member_or(entry, "file", std::string())});
        }
    }
    return entries;
}

// Also of a program of the same number, whose journal is this one's file from now on.
void PlanJournal::forgetTaken()
{
    for (const Taken& taken : m_taken) {
        if (taken.journal == file() && !m_written.empty())
            m_lock = taken.lock;
        else
            removeJournal(taken.journal, taken.lock);
    }
    m_taken.clear();
}

bool PlanJournal::lock()
{
    const auto own
        = std::find_if(m_taken.begin(), m_taken.end(), [this](const Taken& taken) { return taken.journal == file(); });
    if (m_lock < 0 && own == m_taken.end())
        m_lock = takeLock(file());
    return m_lock >= 0 || own != m_taken.end();
}

void PlanJournal::flush()
{
    m_timer.stop();
    Json entries = Json::array();
    for (int i = 0; i < m_plans.count(); ++i) {
        const PlanDocument& document = m_plans.document(i);
        if (document.isDirty())
            entries.push_back({{"file", document.file().string()}, {"plan", document.plan().document}});
    }
    if (entries.empty()) {
        discard();
        return;
    }
    std::string text = entries.dump();
    if (text != m_written) {
        std::error_code error;
        std::filesystem::create_directories(m_folder, error);
        // A full disk must not stop the work: the next edit tries again.
        const Expected<void> written = lock()
            ? write_file_atomically(file(), text)
            : Expected<void>(Problem{ProblemCode::io, "cannot be written", "", m_folder.string()});
        if (!written) {
            if (!std::exchange(m_hasFailed, true))
                emit failed(fromUtf8(written.error().line()));
            return;
        }
        m_hasFailed = false;
        m_written = std::move(text);
    }
    forgetTaken();
}

void PlanJournal::discard()
{
    m_timer.stop();
    m_written.clear();
    forgetTaken();
    if (m_lock >= 0)
        removeJournal(file(), std::exchange(m_lock, -1));
}

} // namespace fourfold::ui
