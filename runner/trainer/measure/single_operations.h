// SPDX-License-Identifier: GPL-3.0-or-later
// What one operation of a step takes: products, passes over memory, attention, launches, collectives.
#pragma once

#include "core/base/json.h"
#include "core/plan/plan.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/measure/stopwatch.h"

#include <functional>

namespace fourfold::trainer {

struct Measuring {
    const ResolvedPlan& plan;
    const Stopwatch& watch;
    int rank, ranks;
    bool cuda;
    int threads, most_threads; // of a rank among all of the node's, and of one alone
    std::function<void(Json)> tell; // called on every rank with the same figures
};

// Ends with the rank's own number of threads.
void measure_products(const Measuring& measuring);
void measure_passes(const Measuring& measuring);
void measure_attention(const Measuring& measuring);
// `make_transport` as of make_mesh(); every rank makes the groups in the same order.
void measure_collectives(const Measuring& measuring, const TransportFactory& make_transport);

} // namespace fourfold::trainer
