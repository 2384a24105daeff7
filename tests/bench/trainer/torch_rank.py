# SPDX-License-Identifier: GPL-3.0-or-later
"""One rank of the comparison: the same Llama model and step as fourfold-trainer, on torch.distributed with Gloo.

Reads RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT. Prints, on rank 0, one line of JSON: seconds of each measured step.
Modes: dp (DistributedDataParallel), tp (DTensor, sequence parallel, loss parallel), pp (torch.distributed.pipelining,
1F1B), cp (attention over all-gathered keys and values; gradients summed by DistributedDataParallel).
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh


class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.head_dim = size.hidden // size.heads
        self.q_proj = nn.Linear(size.hidden, size.hidden, bias=False)
        self.k_proj = nn.Linear(size.hidden, size.kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(size.hidden, size.kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(size.hidden, size.hidden, bias=False)
        self.attend = causal_attention

    def forward(self, x, cosine, sine):
        b, s, _ = x.shape
        q, k, v = (proj(x).view(b, s, -1, self.head_dim) for proj in (self.q_proj, self.k_proj, self.v_proj))
        q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        mixed = self.attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        return self.o_proj(mixed.transpose(1, 2).reshape(b, s, -1))


def causal_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=q.size(1) != k.size(1))


def rotate(x, cosine, sine):
    first, second = x.chunk(2, -1)
    cosine, sine = cosine[None, :, None], sine[None, :, None]
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1)


class Mlp(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate_proj = nn.Linear(size.hidden, size.ffn, bias=False)
        self.up_proj = nn.Linear(size.hidden, size.ffn, bias=False)
        self.down_proj = nn.Linear(size.ffn, size.hidden, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.attention_norm = nn.RMSNorm(size.hidden, eps=1e-5)
        self.attention = Attention(size)
        self.mlp_norm = nn.RMSNorm(size.hidden, eps=1e-5)
        self.mlp = Mlp(size)

    def forward(self, x, cosine, sine):
        x = x + self.attention(self.attention_norm(x), cosine, sine)
        return x + self.mlp(self.mlp_norm(x))


class Llama(nn.Module):
    """Layers [first, last); embedding and head where the stretch holds the ends."""

    def __init__(self, size, first, last, positions):
        super().__init__()
        self.embedding = nn.Embedding(size.vocab, size.hidden) if first == 0 else None
        self.layers = nn.ModuleList(Layer(size) for _ in range(first, last))
        at_end = last == size.layers
        self.norm = nn.RMSNorm(size.hidden, eps=1e-5) if at_end else None
        self.head = nn.Linear(size.hidden, size.vocab, bias=False) if at_end else None
        planes = torch.arange(0, size.hidden // size.heads, 2, dtype=torch.float64)
        angles = positions[:, None].double() * 10000.0 ** (-planes / (size.hidden // size.heads))
        self.register_buffer("cosine", angles.cos().float())
        self.register_buffer("sine", angles.sin().float())

    def forward(self, x):
        if self.embedding is not None:
            x = self.embedding(x)
        for layer in self.layers:
            x = layer(x, self.cosine, self.sine)
        return self.head(self.norm(x)) if self.head is not None else x


class GatherKeys(torch.autograd.Function):
    """All ranks' keys or values along the sequence; their gradients are summed back."""

    @staticmethod
    def forward(ctx, own):
        parts = [torch.empty_like(own) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, own.contiguous())
        return torch.cat(parts, 2)

    @staticmethod
    def backward(ctx, gradient):
        parts = [part.contiguous() for part in gradient.chunk(dist.get_world_size(), 2)]
        own = torch.empty_like(parts[0])
        dist.reduce_scatter(own, parts)
        return own


def cross_entropy(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(0, 1))


def context_parallel(model, rank, ranks, size):
    """Head-tail balance: rank r has chunks r and 2 n - 1 - r; the mask follows from the positions."""
    chunk = size.seq_len // (2 * ranks)
    chunks = [torch.arange(c * chunk, (c + 1) * chunk) for r in range(ranks) for c in (r, 2 * ranks - 1 - r)]
    everyone = torch.cat(chunks)
    own = torch.cat(chunks[2 * rank:2 * rank + 2])
    mask = own[:, None] >= everyone[None, :]

    def attend(q, k, v):
        return F.scaled_dot_product_attention(
            q, GatherKeys.apply(k), GatherKeys.apply(v), attn_mask=mask, enable_gqa=q.size(1) != k.size(1))

    for layer in model.layers:
        layer.attention.attend = attend
    return own


def tensor_parallel(model, ranks):
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput, RowwiseParallel,
                                                   SequenceParallel, parallelize_module)
    mesh = init_device_mesh("cpu", (ranks,))
    parallelize_module(model, mesh, {
        "embedding": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False)})
    for layer in model.layers:
        parallelize_module(layer, mesh, {
            "attention_norm": SequenceParallel(),
            "attention": PrepareModuleInput(
                input_layouts=(Shard(1), None, None), desired_input_layouts=(Replicate(), None, None)),
            "attention.q_proj": ColwiseParallel(), "attention.k_proj": ColwiseParallel(),
            "attention.v_proj": ColwiseParallel(), "attention.o_proj": RowwiseParallel(output_layouts=Shard(1)),
            "mlp_norm": SequenceParallel(),
            "mlp": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
            "mlp.gate_proj": ColwiseParallel(), "mlp.up_proj": ColwiseParallel(),
            "mlp.down_proj": RowwiseParallel(output_layouts=Shard(1))})


def train(arguments):
    size = arguments
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    positions = torch.arange(size.seq_len)
    first, last = 0, size.layers
    if size.mode == "pp":
        first, last = rank * size.layers // ranks, (rank + 1) * size.layers // ranks
    if size.mode == "cp":
        chunk = size.seq_len // (2 * ranks)
        positions = torch.cat([torch.arange(c * chunk, (c + 1) * chunk) for c in (rank, 2 * ranks - 1 - rank)])
    model = Llama(size, first, last, positions)
    replicas = ranks if size.mode == "dp" else 1
    micro_batches = size.global_batch // (size.micro_batch * replicas)
    forward, schedule, scale = model, None, 1.0 / micro_batches
    from contextlib import nullcontext
    loss_context, no_sync = nullcontext, nullcontext
    if size.mode == "cp":
        own = context_parallel(model, rank, ranks, size)
    if size.mode in ("dp", "cp"):
        forward = nn.parallel.DistributedDataParallel(model)
        no_sync = forward.no_sync
    if size.mode == "tp":
        from torch.distributed.tensor.parallel import loss_parallel
        tensor_parallel(model, ranks)
        loss_context = loss_parallel
    if size.mode == "pp":
        from torch.distributed.pipelining import PipelineStage, Schedule1F1B
        stage = PipelineStage(model, rank, ranks, torch.device("cpu"))
        schedule = Schedule1F1B(stage, micro_batches, loss_fn=cross_entropy)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=size.mode != "tp", foreach=size.mode == "tp")

    def one_step():
        optimizer.zero_grad()
        for index in range(1 if schedule else micro_batches):
            rows = size.global_batch if schedule else size.micro_batch
            tokens = torch.randint(0, size.vocab, (rows, size.seq_len + 1))
            inputs, labels = tokens[:, :-1], tokens[:, 1:]
            if schedule:
                if rank == 0:
                    schedule.step(inputs)
                elif rank == ranks - 1:
                    schedule.step(target=labels, losses=[])
                else:
                    schedule.step()
                continue
            if size.mode == "cp":
                inputs, labels = inputs[:, own], labels[:, own]
            with nullcontext() if index + 1 == micro_batches else no_sync(), loss_context():
                (cross_entropy(forward(inputs), labels) * scale).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    times = []
    for step in range(size.warm_up + size.steps):
        dist.barrier()
        begin = time.perf_counter()
        one_step()
        dist.barrier()
        if step >= size.warm_up:
            times.append(time.perf_counter() - begin)
    if rank == 0:
        print(json.dumps(times), flush=True)
    dist.barrier()
    os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["dp", "tp", "pp", "cp"])
    for name in ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "seq_len", "micro_batch", "global_batch",
                 "steps", "warm_up"):
        parser.add_argument("--" + name, type=int, required=True)
    train(parser.parse_args())
