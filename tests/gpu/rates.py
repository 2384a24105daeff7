#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""TFLOP/s of a GPU's products by kind of scales, and what it copies: what fp8_gain and its shares come from.

    rates.py    # in a Python with torch for CUDA

Products of the shapes of a layer of width 4,096 and of an expert of width 1,024, forward and of the weight's gradient;
medians of three times twenty. nan: this GPU, or this LibTorch, does not take them.
"""
import statistics

import torch

SHAPES = [(8192, 14336, 4096), (8192, 4096, 14336), (8192, 4096, 4096), (14336, 4096, 8192), (8192, 1024, 4096),
          (2048, 3584, 1024), (1024, 3584, 2048)]
BLOCK = 128
ROUNDS, CALLS = 3, 20


def seconds(call):
    for _ in range(5):
        call()
    times = []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(CALLS):
            call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / CALLS / 1e3)
    return statistics.median(times)


def kinds(m, n, k):
    """Name and product of [m, k] and [n, k]."""
    a, b = (torch.randn(rows, k, device="cuda") for rows in (m, n))
    bf16 = a.bfloat16(), b.bfloat16()
    yield "bf16", lambda: bf16[0] @ bf16[1].t()
    a8, wide, b8 = a.to(torch.float8_e4m3fn), a.to(torch.float8_e5m2), b.to(torch.float8_e4m3fn)

    def scaled(left, *scales):
        return lambda: torch._scaled_mm(left, b8.t(), *scales, out_dtype=torch.bfloat16)

    def ones(*shape):
        return torch.ones(shape, device="cuda")

    yield "tensorwise", scaled(a8, ones(1, 1), ones(1, 1))
    yield "tensorwise, e5m2 x e4m3", scaled(wide, ones(1, 1), ones(1, 1))
    yield "rowwise", scaled(a8, ones(m, 1), ones(1, n))
    of_rows = ones(k // BLOCK, m).t()  # beside each other: those of one block of columns
    yield "1x128 x 128x128", scaled(a8, of_rows, ones(n // BLOCK, k // BLOCK).t())
    yield "1x128 x 1x128", scaled(a8, of_rows, ones(k // BLOCK, n))


def main():
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "CUDA", torch.version.cuda)
    names = []
    for m, n, k in SHAPES:
        rates = []
        for name, product in kinds(m, n, k):
            if (m, n, k) == SHAPES[0]:
                names.append(name)
            try:
                rates.append(2 * m * n * k / 1e12 / seconds(product))
            except RuntimeError:
                rates.append(float("nan"))
        if (m, n, k) == SHAPES[0]:
            print("m n k | TFLOP/s: " + "; ".join(names))
        print(m, n, k, "|", *(f"{rate:.0f}" for rate in rates), flush=True)
    gib = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    other = torch.empty_like(gib)
    host = torch.empty(2**30, dtype=torch.uint8, pin_memory=True)
    for name, to, of, moved in (("on the GPU", other, gib, 2), ("to the GPU", gib, host, 1), ("to the host", host, gib, 1)):
        print(f"copy {name}: {moved * 2**30 / 1e9 / seconds(lambda to=to, of=of: to.copy_(of, non_blocking=True)):.0f} GB/s")


main()
