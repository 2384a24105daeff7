// SPDX-License-Identifier: GPL-3.0-or-later
// Models of one size and different shape: which is fastest per token, and what the others waste.
#pragma once

#include "core/search/search.h"

namespace fourfold {

// Shapes near a size. MLP and key/value heads go along in the proportions of the plan's model.
struct ShapeSpace {
    double parameters = 0; // 0: as many as the plan's model has
    double tolerance = 0.03; // share by which a shape may miss them
    // Empty: hidden sizes from 0.7 to 1.4 times the model's in steps of 256; every number of heads that gives head
    // dimensions from 64 to 256 and that TP divides; the number of layers (a multiple of the pipeline stages) that
    // comes nearest to the size.
    std::vector<int> layers, heads, hidden;
};

struct ShapeRequest {
    SearchRequest search; // plan; with vary_layout also its space, constraints and objective
    ShapeSpace space;
    bool vary_layout = false; // each shape with the best of its layouts, else all with the plan's
    int threads = 0;
};

// What a shape costs on one GPU, by the model's own terms.
struct ShapeWaste {
    double tiles = 0; // share of the time of matrix products that unfilled tiles cost
    double waves = 0; // the same for the last, partly filled wave of tiles
    double attention = 0; // share of a micro-batch's time that attention takes
    std::vector<std::string> reasons; // "head dimension 150 is not a multiple of 8"
};
ShapeWaste waste_of(const Prediction& prediction);

struct FoundShape {
    ResolvedPlan plan;
    double parameters = 0;
    double step_time_s = 0, tps_per_gpu = 0, mfu = 0, memory_device_gib = 0;
    Fit fit = Fit::no;
    // GPU-seconds for 10^6 tokens on a model of exactly the wanted size: time / parameters x wanted.
    double gpu_seconds = 0;
    double loss = 0; // of speed against the best shape that fits: 0.1 = the best is done in 10 % less time
    ShapeWaste waste;
};

struct ShapeResult {
    std::vector<FoundShape> shapes; // fastest at equal size first, those that do not fit last
    std::int64_t tried = 0; // shapes of about the wanted size
    std::int64_t broken_rules = 0; // of those, with the plan's layout (or with any, where it varies)
    double parameters = 0; // wanted
};
ShapeResult search_shapes(const ShapeRequest& request, std::stop_token stop = {});

// The plan with another shape; what follows from it (stages, vocabulary) is worked out again. Fails where heads do not
// divide hidden, and for latent attention, whose ranks no proportion gives.
Expected<ResolvedPlan> with_shape(const ResolvedPlan& plan, int layers, int hidden, int heads);

} // namespace fourfold
