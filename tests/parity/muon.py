# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of torch.optim.Muon beside the trainer's: FILE has weights before and after, gradients and learning rates."""

import json
import sys

import torch

# The iteration rounds to bf16 on its first line: in fp64 both do the same arithmetic.
torch.Tensor.bfloat16 = lambda tensor: tensor.clone()

with open(sys.argv[1]) as file:
    told = json.load(file)


def tensor(values, name):
    return torch.tensor(values[name], dtype=torch.float64).view(told["shapes"][name])


weights = {name: torch.nn.Parameter(tensor(told["before"], name)) for name in told["shapes"]}
optimizer = torch.optim.Muon(
    weights.values(),
    momentum=told["momentum"],
    weight_decay=told["weight_decay"],
    adjust_lr_fn="match_rms_adamw",
)
for step in told["steps"]:
    for name, weight in weights.items():
        weight.grad = tensor(step["gradients"], name)
    optimizer.param_groups[0]["lr"] = step["lr"]
    optimizer.step()
worst = max((weights[name] - tensor(told["after"], name)).abs().max().item() for name in weights)
moved = max((weights[name] - tensor(told["before"], name)).abs().max().item() for name in weights)
print("worst difference", worst, "largest step", moved)
sys.exit(worst > 1e-10 or moved < 1e-5)
