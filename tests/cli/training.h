// SPDX-License-Identifier: GPL-3.0-or-later
// Runs without training: the real program and agent, with a stand-in of tests/runner for the trainer beside them.
#pragma once

#include "tests/cli/program.h"

namespace fourfold::test {

class TrainingTest : public ProgramTest {
protected:
    explicit TrainingTest(const std::filesystem::path& trainer = FOURFOLD_FAKE_TRAINER)
    {
        std::filesystem::create_directories(folder() / "bin");
        for (const char* name : {"fourfold", "fourfold-agent"})
            std::filesystem::copy_file(std::filesystem::path(FOURFOLD_BIN_DIR) / name, folder() / "bin" / name);
        std::filesystem::copy_file(trainer, folder() / "bin/fourfold-trainer");
        use_program(folder() / "bin/fourfold");
        std::string corpus;
        for (int i = 0; i < 20000; ++i)
            corpus += static_cast<char>('a' + i % 26);
        file("corpus.txt", corpus);
    }

    // A tiny Llama on two ranks, three steps, with `edits` merged in (RFC 7396).
    [[nodiscard]] std::string tiny_plan(const Json& edits = Json::object()) const
    {
        Json plan = Json::parse(R"({"name": "Tiny", "cluster": "this-computer", "stack": "fourfold", "gpus": 2,
            "model": {"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2,
                "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 256, "rms_norm_eps": 1e-5,
                "max_position_embeddings": 128, "tie_word_embeddings": false},
            "training": {"seq_len": 64, "micro_batch": 1, "global_batch": 4, "precision": "fp32"},
            "run": {"steps": 3, "data": [{"path": "corpus.txt", "weight": 1}]}})");
        plan.merge_patch(edits);
        return file("tiny.plan.json", plan.dump());
    }
};

} // namespace fourfold::test
