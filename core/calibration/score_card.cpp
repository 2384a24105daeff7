// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/score_card.h"

#include "core/base/input_file.h"
#include "core/base/paths.h"
#include "core/stack/release.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

namespace fourfold {

namespace {

using Rows = std::vector<const ScoredRow*>;

// Of rows that say of which release they are, unless the table's own parts are the releases.
void add_releases(std::vector<Figures>& sections, const Rows& all)
{
    std::vector<std::string> names;
    std::map<std::string, Rows> rows;
    bool are_tables = true;
    for (const ScoredRow* row : all) {
        const std::string& release = row->row->plan.stack.release;
        if (release.empty())
            continue;
        if (rows[release].empty())
            names.push_back(release);
        rows[release].push_back(row);
        are_tables &= release == release_name(row->row->table);
    }
    if (are_tables)
        return;
    std::ranges::stable_sort(names, is_earlier_release);
    for (const std::string& name : names)
        sections.push_back(figures_of(kReleaseSection + name, rows[name]));
}

std::vector<Figures> sections_of(const Rows& all)
{
    std::vector<Figures> sections{figures_of("all rows", all)};
    Rows core, core_layouts, dense, experts;
    std::vector<std::string> tables;
    std::map<std::string, Rows> by_table;
    for (const ScoredRow* row : all) {
        if (row->row->in_core)
            core.push_back(row);
        if (row->row->in_core_layout)
            core_layouts.push_back(row);
        (row->row->plan.model.experts ? experts : dense).push_back(row);
        if (by_table[row->row->table].empty())
            tables.push_back(row->row->table);
        by_table[row->row->table].push_back(row);
    }
    if (core.size() < all.size()) {
        sections.push_back(figures_of("core", core));
        // What ran badly ran all the same.
        const Figures layouts = figures_of("core", core_layouts);
        sections.back().fits = layouts.fits;
        sections.back().runs = layouts.runs;
        sections.back().planner = layouts.planner;
    }
    if (!dense.empty() && !experts.empty()) {
        sections.push_back(figures_of("dense", dense));
        sections.push_back(figures_of("experts", experts));
    }
    if (tables.size() > 1) {
        for (const std::string& table : tables)
            sections.push_back(figures_of(table, by_table[table]));
    }
    add_releases(sections, all);
    return sections;
}

Rows worst_of(const Rows& rows, int count)
{
    Rows worst;
    for (const ScoredRow* row : rows) {
        if (row->error() && !row->row->excluded)
            worst.push_back(row);
    }
    std::stable_sort(worst.begin(), worst.end(),
        [](const ScoredRow* a, const ScoredRow* b) { return std::abs(*a->log_error()) > std::abs(*b->log_error()); });
    worst.resize(std::min(worst.size(), std::size_t(std::max(0, count))));
    return worst;
}

ScoreView make_view(const MeasuredTable& table, const FoldSet* folds, int worst_rows)
{
    ScoreView view;
    view.scored = score_table(table, folds);
    Rows all, core;
    for (const ScoredRow& row : view.scored.rows) {
        all.push_back(&row);
        if (row.row->in_core)
            core.push_back(&row);
    }
    view.sections = sections_of(all);
    view.worst = worst_of(core, worst_rows);
    if (folds != nullptr) {
        view.coverage = time_coverage(core);
        if (Coverage memory = memory_coverage(core); memory.rows + memory.without_interval > 0)
            view.coverage.push_back(std::move(memory));
    }
    return view;
}

std::vector<std::string> assumptions(const MeasuredTable& table)
{
    std::map<std::string, int> counts;
    for (const MeasuredRow& row : table.rows) {
        for (const std::string& assumed : row.assumed)
            ++counts[assumed];
    }
    std::vector<std::string> list;
    for (const auto& [assumed, rows] : counts)
        list.push_back(assumed + " in " + std::to_string(rows) + (rows == 1 ? " row" : " rows"));
    return list;
}

} // namespace

ScoreCard make_score_card(MeasuredTable table, const std::vector<FoldSet>& folds, int worst_rows)
{
    ScoreCard card;
    card.table = std::make_shared<const MeasuredTable>(std::move(table));
    for (const FoldSet& set : folds)
        card.views.push_back(make_view(*card.table, &set, worst_rows));
    card.views.push_back(make_view(*card.table, nullptr, worst_rows));
    if (folds.empty())
        card.views.back().scored.label = "never fitted";
    for (const MeasuredRow& row : card.table->rows) {
        const bool scored = row.ran() || row.crashed();
        card.unscored += scored ? 0 : 1;
        card.excluded += scored && row.excluded ? 1 : 0;
    }
    card.assumed = assumptions(*card.table);
    return card;
}

namespace {
// Position of a set's split among those that the sources of the table name; others stand behind.
std::size_t place_of(const FoldSet& set, const MeasuredTable& table, const TableSources& sources)
{
    const TableSource* source = table.rows.empty() ? nullptr : sources.source(table.rows.front().source);
    if (source == nullptr)
        return 0;
    const auto found = std::find(source->splits.begin(), source->splits.end(), set.split);
    return std::size_t(found - source->splits.begin());
}
} // namespace

Expected<ScoreCard> read_score_card(
    const std::filesystem::path& file, const TableSources& sources, const Presets& presets, int worst_rows)
{
    FOURFOLD_TRY(MeasuredTable table, read_measured_table(file, sources, presets));
    FOURFOLD_TRY(auto folds, find_fold_sets(table.name));
    std::stable_sort(folds.begin(), folds.end(),
        [&](const FoldSet& a, const FoldSet& b) { return place_of(a, table, sources) < place_of(b, table, sources); });
    return make_score_card(std::move(table), folds, worst_rows);
}

std::vector<std::filesystem::path> measured_tables_in(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() != ".csv")
            continue;
        if (!entry->is_regular_file(error))
            continue;
        std::ifstream file(entry->path());
        std::string header;
        bool whole = true;
        (void)read_line(file, header, 1u << 16, whole);
        if (("," + header + ",").find(",metric,") != std::string::npos)
            files.push_back(entry->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::filesystem::path> published_tables()
{
    std::vector<std::filesystem::path> files;
    std::set<std::string> seen; // of two tables of one name the first folder's holds
    for (const auto& folder : preset_folders()) {
        for (const auto& file : measured_tables_in(folder / "published")) {
            if (seen.insert(file.filename().string()).second)
                files.push_back(file);
        }
    }
    return files;
}

} // namespace fourfold
