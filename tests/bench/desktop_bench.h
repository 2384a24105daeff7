// SPDX-License-Identifier: GPL-3.0-or-later
// What the measurements of the desktop share.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/presets.h"

#include <QElapsedTimer>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace fourfold::bench {

inline double percentile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[std::min(values.size() - 1, std::size_t(share * double(values.size())))];
}

// Processor time of this thread: what a busy computer leaves comparable.
inline double threadMilliseconds()
{
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
}

template <typename Work>
void measure(const char* what, int times, Work work)
{
    std::vector<double> wall, processor;
    for (int i = 0; i < times; ++i) {
        QElapsedTimer timer;
        timer.start();
        const double before = threadMilliseconds();
        work(i);
        processor.push_back(threadMilliseconds() - before);
        wall.push_back(double(timer.nsecsElapsed()) / 1e6);
    }
    std::printf("%-60s %4d times  median %7.2f ms  p95 %7.2f ms  most %7.2f ms  (window's thread: median %.2f, "
                "p95 %.2f ms)\n",
        what, times, percentile(wall, 0.5), percentile(wall, 0.95), percentile(wall, 1), percentile(processor, 0.5),
        percentile(processor, 0.95));
}

inline Plan largePlan()
{
    return *parse_plan(R"({"fourfold_plan": 1, "name": "Llama 3.1 405B on 16,384 H100", "model": "llama-3.1-405b",
        "cluster": "grand-teton-h100", "gpus": 16384, "stack": "torchtitan",
        "layout": {"tp": 8, "cp": 1, "pp": 16, "dp": 128},
        "training": {"seq_len": 8192, "micro_batch": 1, "global_batch": 2048, "schedule": "1f1b",
                     "sharding": "parameters", "recompute": "none"}})",
        "");
}

// Resident memory of this process, MiB.
inline double residentMib()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:"))
            return std::stod(line.substr(6)) / 1024;
    }
    return 0;
}

void layCurves(); // 20 runs of 100,000 steps over each other
void drawKernels(const Presets& presets); // a trace of a million

} // namespace fourfold::bench
