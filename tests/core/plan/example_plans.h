// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace fourfold::test {

// The example of the plan file's reference.
inline constexpr const char* kExample = R"({
  "fourfold_plan": 1,
  "name": "Llama 3.1 8B on 16 H100",
  "model": "llama-3.1-8b", "cluster": "tsubame4", "gpus": 16, "stack": "megatron-lm",
  "layout": { "tp": 2, "cp": 1, "pp": 1, "dp": 8, "ep": 1, "virtual_stages": 1 },
  "training": { "seq_len": 8192, "micro_batch": 1, "global_batch": 1024, "schedule": "1f1b", "sharding": "optimizer",
                "recompute": "none", "precision": "bf16", "sequence_parallel": true, "compile": false, "async_tp": false },
  "run": { "steps": 100, "data": [ { "path": "corpus.bin", "weight": 1 } ], "seed": 1, "lr": 3e-4 }
})";

// Every key of the plan file, with values that differ from the defaults.
inline constexpr const char* kEverything = R"({
  "fourfold_plan": 1, "name": "all keys",
  "model": {"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16,
            "num_key_value_heads": 4, "intermediate_size": 2816, "vocab_size": 32000, "max_position_embeddings": 4096},
  "cluster": {"id": "own", "name": "Own", "source": "measured here", "date": "2026-01-01", "notes": "n", "measured": {"a": 1},
    "gpu": {"id": "x", "name": "X", "generation": "hopper", "memory_gib": 80, "memory_bandwidth_gb_s": 2000, "multiprocessors": 100, "power_w": 300, "design_power_w": 350,
      "product_power_w": 400, "exponentials_per_clock": 32, "host_link_gb_s": 64,
            "peak_tflops": {"bf16": 300, "fp16": 301, "fp8": 600, "fp4": 1200, "fp32": 20}},
    "gpus_per_node": 4,
    "intra_node": {"bandwidth_gb_s": 300, "latency_us": 4, "topology": "torus", "pair_gb_s": 75, "hop_us": 1,
                   "torus_axes": [2, 2, 1], "torus_closes_at": 2},
    "inter_node": {"bandwidth_gb_s": 25, "latency_us": 9, "nics_per_node": 4, "p2p_gb_s": 19, "hop_us": 3,
                   "nic_share": 0.9},
    "rack": {"nodes": 8, "bandwidth_gb_s": 20, "latency_us": 12}},
  "gpus": 16, "stack": "megatron-lm",
  "layout": {"tp": 2, "cp": 2, "pp": 2, "dp": 2, "ep": 1, "etp": 1, "virtual_stages": 2, "dp_shard": 2,
             "stage_layers": [1, 2, 3, 2], "order": ["cp", "tp", "dp", "pp"]},
  "training": {"seq_len": 2048, "micro_batch": 2, "global_batch": 16, "micro_batches": 4,
    "ramp_up": {"start": 8, "increment": 4, "samples": 1000}, "schedule": "interleaved", "sharding": "hybrid",
    "recompute": "selective", "recompute_layers": 3, "recompute_every": 2,
    "recompute_parts": ["mlp", "layer-norm"], "fp8_scale_group": "tp", "mx_rounding": "ceil", "precision": "fp8", "grad_dtype": "bf16",
    "optimizer_state_dtype": "bf16", "optimizer": "adam", "optimizer_in_backward": true, "offload": "activations", "offload_layers": 2, "sequence_parallel": false,
    "compile": true, "async_tp": true, "attention": "cudnn", "fp8_recipe": "blockwise", "cp_method": "ulysses",
    "fsdp": {"layers_per_unit": 2, "reshard_after_forward": false, "prefetch": false, "each_micro_batch": true},
    "overlap": {"grad_reduce": false, "param_gather": false, "p2p": false, "expert_exchange": true, "tensor_parallel": true},
    "experts": {"balance": "micro-batch", "capacity": 1.5, "capacity_of": "rank"}, "flop_convention": "bloom-before-02-21"},
  "run": {"steps": 7, "tokens": 1e6, "seed": 18446744073709551615,
    "data": [{"path": "a.bin", "weight": 2, "dtype": "uint32", "range": [0.1, 0.8]}, {"path": "b.txt"}],
    "data_order": "epochs", "documents": {"mask": true, "end": 2, "restart_positions": true},
    "lr": 1e-3, "min_lr": 1e-5, "lr_schedule": "wsd", "warmup_steps": 3, "betas": [0.8, 0.99], "eps": 1e-6,
    "momentum": 0.9, "weight_decay": 0.2, "clip_norm": 0.5, "routing_bias_rate": 0.01, "ahead_loss_weight": 0.4,
    "eval": {"every": 5, "batches": 3, "data": [{"path": "c.bin", "weight": 1, "dtype": "uint8", "range": [0.8, 1]}]},
    "checkpoint": {"every": 2, "keep": 4, "path": "ckpt", "load": "old", "from_last_good": true},
    "watch": {"not_finite": "stop", "spike": "skip", "sigma": 4, "window": 50}, "log_every": 10, "read_at": 90,
    "deterministic": true, "environment": {"A": "1", "B": ""}},
  "budget": {"price_per_gpu_hour": 2.5, "gpu_mtbf_hours": 50000, "node_mtbf_hours": 20000, "storage_gb_s": 40,
    "restart_s": 300, "gpu_power_w": 650, "facility_factor": 1.2}
})";

} // namespace fourfold::test
