// SPDX-License-Identifier: GPL-3.0-or-later
// A folder with the real programs and a trainer that trains nothing, as an installation has them, and a plan for it.
// The program that includes this says where the built programs are (FOURFOLD_BIN_DIR).
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace fourfold::test {

// Returns the command line program; the launcher takes what lies beside it.
inline std::filesystem::path put_fake_programs(const std::filesystem::path& folder)
{
    std::filesystem::create_directories(folder);
    for (const auto& [from, to] : {std::pair{"fourfold", "fourfold"}, std::pair{"fourfold-agent", "fourfold-agent"},
             std::pair{"../tests/fake-trainer", "fourfold-trainer"}})
        std::filesystem::copy_file(
            std::filesystem::path(FOURFOLD_BIN_DIR) / from, folder / to, std::filesystem::copy_options::skip_existing);
    return folder / "fourfold";
}

// A plan of two ranks that takes `steps` steps of `ms` milliseconds; `more`: further variables, as JSON behind a comma.
inline std::filesystem::path put_tiny_plan(
    const std::filesystem::path& folder, int steps, int ms, const std::string& more = "")
{
    std::ofstream(folder / "corpus.txt") << std::string(10'000, 'x');
    std::ofstream(folder / "tiny.plan.json")
        << R"({"fourfold_plan": 1, "name": "Tiny", "cluster": "this-computer", "stack": "fourfold",
            "model": {"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2,
                "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 256, "rms_norm_eps": 1e-5,
                "max_position_embeddings": 128, "tie_word_embeddings": false}, "gpus": 2, "layout": {"tp": 2},
            "training": {"seq_len": 64, "micro_batch": 1, "global_batch": 1, "precision": "fp32"},
            "run": {"steps": )"
        << steps << R"(, "data": [{"path": "corpus.txt", "weight": 1}], "environment": {"FAKE_STEPS": ")" << steps
        << R"(", "FAKE_STEP_MS": ")" << ms << "\"" << more << "}}}";
    return folder / "tiny.plan.json";
}

} // namespace fourfold::test
