// SPDX-License-Identifier: GPL-3.0-or-later
// What the trainer needs beyond the layout (`run` in a plan file). Part of the plan's hash, not of the layout's
// identity.
#pragma once

#include "core/base/words.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

enum class LrSchedule { constant, linear, cosine, wsd };
template <>
inline constexpr auto kWords<LrSchedule> = std::to_array<std::string_view>({"constant", "linear", "cosine", "wsd"});

// What a run does about a step that is not finite, and about one that stands out (WatchSettings).
enum class NotFiniteAction { skip, stop };
template <>
inline constexpr auto kWords<NotFiniteAction> = std::to_array<std::string_view>({"skip", "stop"});
enum class SpikeAction { ignore, warn, skip, stop };
template <>
inline constexpr auto kWords<SpikeAction> = std::to_array<std::string_view>({"ignore", "warn", "skip", "stop"});

// Which part of the data a training sample is.
//   random  a window at a random place of a source that is drawn by weight, by seed, step and place in the batch
//   epochs  each window of a source once before any comes again, in an order by seed and epoch; sources by the largest
//           deficit to their weights. It depends on seed and sample number alone.
enum class DataOrder { random, epochs };
template <>
inline constexpr auto kWords<DataOrder> = std::to_array<std::string_view>({"random", "epochs"});

// Samples that hold several documents.
struct DocumentSettings {
    bool mask = false; // no token sees another document, and no label is a token of another one
    std::optional<long long> end; // the id of each document's last token; empty: an .idx beside the file says
    bool restart_positions = false; // count from 0 in each document
};

// One token file. `*.txt` holds bytes (one token a byte), `*.npy` and `*.safetensors` say what they hold, anything else
// is little-endian tokens of `dtype`.
struct DataSource {
    std::string path; // relative paths: from the plan file's folder, else from the resources folder
    double weight = 1; // share of the batches
    std::string dtype; // "uint8", "uint16", "uint32"; empty = what an .idx beside it says, else by its
                       // name (.txt: uint8, others uint16)
    double begin = 0, end = 1; // the part of the file used, as fractions (train 0..0.9, held out 0.9..1)
};

struct EvalSettings {
    int every = 0; // steps between evaluations; 0 = only at the end (when `data` is given)
    int batches = 8; // global batches per evaluation
    std::vector<DataSource> data; // empty = no evaluation
};

struct CheckpointSettings {
    int every = 0; // steps; 0 = never
    int keep = 2;
    std::string path; // empty = inside the run directory
    std::string load; // empty = start from the seed
    bool from_last_good = false; // where `load` is damaged: from the newest older one that is whole
};

// The rule by which a run looks at its loss and gradient norm; it says at the start what it will do. `skip` leaves the
// step's update out, `stop` ends the run before it.
struct WatchSettings {
    NotFiniteAction not_finite = NotFiniteAction::skip;
    SpikeAction spike = SpikeAction::warn;
    double sigma = 6; // standard deviations above the mean of the last `window` steps that make a spike
    int window = 100;
};

inline constexpr int kDefaultSteps = 100;

struct RunSettings {
    std::optional<int> steps;
    std::optional<double> tokens;
    std::vector<DataSource> data;
    DataOrder data_order = DataOrder::random;
    DocumentSettings documents;
    unsigned long long seed = 1;
    double lr = 3e-4, min_lr = 0;
    LrSchedule lr_schedule = LrSchedule::cosine;
    int warmup_steps = 0;
    double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weight_decay = 0.1;
    double momentum = 0.95; // Muon's, with Nesterov's look ahead
    double clip_norm = 1.0; // 0 = off
    double routing_bias_rate = 1e-3; // a step of the routing biases
    // What the mean loss of the modules that predict further ahead counts beside the next token's (DeepSeek-V3,
    // arXiv:2412.19437, section 4.2).
    double ahead_loss_weight = 0.3;
    EvalSettings eval;
    CheckpointSettings checkpoint;
    WatchSettings watch;
    int log_every = 1;
    std::optional<int> read_at; // the step whose figures are the headline; empty = median after warm-up
    bool deterministic = false;
    std::map<std::string, std::string> environment; // for every rank, recorded

    // Learning rate of optimizer step `step` in [0, total): linear warm-up, then the schedule down to min_lr.
    // wsd keeps lr until 80 % of the steps, then falls linearly.
    [[nodiscard]] double learning_rate(int step, int total) const;
};

} // namespace fourfold
