// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/published_layouts.h"
#include "core/calibration/csv.h"
#include "core/calibration/row_cells.h"
#include "core/calibration/row_plan.h"
#include "core/calibration/score_card.h"

namespace fourfold {

namespace {

// The GPU preset that a row of a source ran on; clusters are few, each is read once.
class Hardware {
public:
    explicit Hardware(const Presets& presets)
        : presets_(presets)
    {
    }
    std::string gpu_of(const TableSource& source, const std::string& printed)
    {
        const auto cluster = source.clusters.find(printed);
        if (cluster == source.clusters.end())
            return {};
        auto [known, is_new] = gpus_.try_emplace(cluster->second);
        if (is_new) {
            if (const auto preset = presets_.cluster(cluster->second))
                known->second = preset->gpu.id;
        }
        return known->second;
    }

private:
    const Presets& presets_;
    std::map<std::string, std::string> gpus_;
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
        layout.stack = cells.has("stack") ? cells.text("stack") : source->stack;
        layout.model = "h " + cells.text("hidden") + " L " + cells.text("layers");
        layout.hardware = hardware.gpu_of(*source, cells.text("gpu"));
        layout.seq_len = number("seq_len");
        layout.tp = number("tp");
        layout.cp = number("cp");
        layout.pp = number("pp");
        layout.dp = std::max(1, number("gpus") / (layout.tp * layout.cp * layout.pp));
        layout.micro_batch = number("micro_batch");
        layout.training = training_of_row(cells);
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
    static const std::vector<MeasuredLayout> kMeasured = [] {
        const auto sources = TableSources::find();
        return sources ? published_layouts(*sources, Presets()) : std::vector<MeasuredLayout>();
    }();
    return kMeasured;
}

} // namespace fourfold
