// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of the history share: runs and event lines to store.
#pragma once

#include "core/history/store.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace fourfold::test {

inline NewRun sample_run(const std::string& id, const std::string& plan_hash = "aa11")
{
    NewRun run;
    run.id = id;
    run.name = "tiny Llama";
    run.target = "local";
    run.stack = "fourfold";
    run.plan_hash = plan_hash;
    run.layout_hash = "bb22";
    run.plan = Json::parse(R"({"fourfold_plan": 1, "name": "tiny Llama", "model": {"name": "Tiny Llama", "layers": 2},
        "cluster": {"name": "This computer"}, "gpus": 4, "layout": {"tp": 2, "cp": 1, "pp": 1, "dp": 2},
        "training": {"micro_batch": 3}, "run": {"steps": 10}})");
    run.prediction = Json::parse(R"({"feasible": true, "tps_per_gpu": 110.0, "step_time_s": 2.0, "memory_gib": 1.5})");
    run.hosts = {"node-a", "node-b"};
    run.environment = {{"OMP_NUM_THREADS", "1"}};
    return run;
}

inline std::string step_line(int seq, int step, double tps = 100, double loss = 2.5)
{
    char text[256];
    std::snprintf(text, sizeof text,
        R"({"seq":%d,"time":"2026-01-01T00:00:%02d.500Z","rank":0,"event":"step","step":%d,"loss":%g,"step_time_s":%g,)"
        R"("tps_per_gpu":%g,"memory_peak_gib":%g})",
        seq, seq % 60, step, loss, 200 / tps, tps, 1 + 0.01 * step);
    return text;
}

// `backend`: what the ranks ran on, where they said so ("gloo", "nccl").
inline std::string start_line(int seq, const std::string& backend = {})
{
    return R"({"seq":)" + std::to_string(seq)
        + R"(,"time":"2026-01-01T00:00:00.000Z","rank":0,"event":"start","plan_hash":"aa11",)"
          R"("versions":{"fourfold":"0.1.0","libtorch":"2.11.0")"
        + (backend.empty() ? "" : R"(,"backend":")" + backend + '"')
        + R"(},"hardware":{"cpu":"x86"},"environment":{"A":"b"}})";
}

inline std::string end_line(int seq, const std::string& status)
{
    return R"({"seq":)" + std::to_string(seq)
        + R"(,"time":"2026-01-01T00:01:00.000Z","rank":0,"event":"end","status":")" + status + R"("})";
}

// The value, or a failure of the test with the Problem's line.
template <typename T>
T must(Expected<T> result)
{
    if (!result)
        throw std::runtime_error(result.error().line());
    return *std::move(result);
}
inline void must(Expected<void> result)
{
    if (!result)
        throw std::runtime_error(result.error().line());
}

inline HistoryStore open_store(const std::filesystem::path& file, StoreMode mode = StoreMode::read_write)
{
    return must(HistoryStore::open(file, mode));
}

} // namespace fourfold::test
