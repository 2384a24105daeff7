// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan_journal.h"

#include "core/base/paths.h"

#include <QCoreApplication>

#include <charconv>
#include <csignal>

namespace fourfold::ui {

namespace {
constexpr int kDelayMilliseconds = 400; // a spin box held down is one write

// Journals are named after the process that writes them: "<pid>.json".
bool ownerLives(const std::filesystem::path& journal)
{
    const std::string name = journal.stem().string();
    long pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid <= 1)
        return true; // not one of ours: leave it alone
    return pid != QCoreApplication::applicationPid() && ::kill(static_cast<pid_t>(pid), 0) == 0;
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
        if (at->path().extension() == ".json" && !ownerLives(at->path()))
            journals.push_back(at->path());
    }
    for (const std::filesystem::path& journal : journals) {
        const Expected<Json> json = read_json_file(journal);
        std::filesystem::remove(journal, error);
        if (!json || !json->is_array())
            continue; // cut while it was written: there is nothing to restore
        for (const Json& entry : *json) {
            if (entry.is_object() && entry.contains("plan") && entry["plan"].is_object())
                entries.push_back({entry["plan"], entry.value("file", std::string())});
        }
    }
    return entries;
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
    if (text == m_written)
        return;
    std::error_code error;
    std::filesystem::create_directories(m_folder, error);
    if (write_file_atomically(file(), text)) // a full disk must not stop the work: the next edit tries again
        m_written = std::move(text);
}

void PlanJournal::discard()
{
    m_timer.stop();
    m_written.clear();
    std::error_code error;
    std::filesystem::remove(file(), error);
}

} // namespace fourfold::ui
