// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/published_layouts.h"
#include "core/calibration/csv.h"
#include "core/calibration/row_cells.h"
#include "core/calibration/row_plan.h"
#include "core/calibration/score_card.h"

namespace fourfold {

namespace {

// The cluster preset that a row of a source ran on; clusters are few, each is read once.
class Hardware {
public:
    explicit Hardware(const Presets& presets)
        : presets_(presets)
    {
    }
    const Cluster* of(const TableSource& source, const std::string& printed, const std::string& table)
    {
        auto cluster = source.table_clusters.find(table);
        if (cluster == source.table_clusters.end()) {
            cluster = source.clusters.find(printed);
            if (cluster == source.clusters.end())
                return nullptr;
        }
        auto [known, is_new] = clusters_.try_emplace(cluster->second);
        if (is_new) {
            if (auto preset = presets_.cluster(cluster->second))
                known->second = *std::move(preset);
        }
        return known->second ? &*known->second : nullptr;
    }

private:
    const Presets& presets_;
    std::map<std::string, std::optional<Cluster>> clusters_;
};

void add_rows(const std::vector<CsvRecord>& records, const TableSources& sources, Hardware& hardware,
    std::vector<MeasuredLayout>& layouts)
{
    for (std::size_t i = 1; i < records.size(); ++i) {
        std::map<std::string, std::string> printed;
        for (std::size_t k = 0; k < records[i].fields.size() && k < records[0].fields.size(); ++k)
            printed[records[0].fields[k]] = records[i].fields[k];
        RowCells cells(std::move(printed), "");
        const TableSource* source = sources.source(cells.text("source"));
        if (source == nullptr || cells.text("status") != "ok" || cells.has("anomaly"))
            continue;
        cells.take_assumed();
        cells.take_stand_ins(*source);
        const auto number = [&](const char* column) { return int(cells.whole(column).value_or(1)); };
        MeasuredLayout layout;
        const WrittenStack stack = written_stack(cells.has("stack") ? cells.text("stack") : source->stack);
        layout.stack = stack.id;
        layout.release = stack.release.empty() ? release_of_row(cells, source) : stack.release;
        layout.model = "h " + cells.text("hidden") + " L " + cells.text("layers");
        if (const Cluster* cluster = hardware.of(*source, cells.text("gpu"), cells.text("table"))) {
            layout.hardware = cluster->gpu.id;
            layout.intra_node_gb_s = cluster->intra_node.link_gb_s();
            layout.inter_node_gb_s = cluster->inter_node.bandwidth_gb_s;
        }
        layout.seq_len = number("seq_len");
        layout.tp = number("tp");
        layout.cp = number("cp");
        layout.pp = number("pp");
        layout.dp = std::max(1, number("gpus") / (layout.tp * layout.cp * layout.pp));
        layout.micro_batch = number("micro_batch");
        layout.training = training_of_row(cells);
        layout.source = cells.text("source");
        layout.row = cells.text("row");
        layout.global_batch = int(cells.whole("global_batch").value_or(0));
        const bool timed = cells.has("step_time_s");
        layout.metric = timed ? "step_time_s" : cells.text("metric");
        layout.value = cells.positive(timed ? "step_time_s" : "value").value_or(0);
        layouts.push_back(std::move(layout));
    }
}

} // namespace

std::vector<MeasuredLayout> published_layouts(const TableSources& sources, const Presets& presets)
{
    std::vector<MeasuredLayout> layouts;
    Hardware hardware(presets);
    for (const auto& file : published_tables()) {
        const auto text = read_text_file(file);
        if (!text)
            continue;
        const auto records = read_csv(*text, file.string());
        if (records && !records->empty())
            add_rows(*records, sources, hardware, layouts);
    }
    return layouts;
}

const std::vector<MeasuredLayout>& shipped_layouts()
{
    static const std::vector<MeasuredLayout> kMeasured = published_layouts(TableSources::find_readable(), Presets());
    return kMeasured;
}

} // namespace fourfold
