// SPDX-License-Identifier: GPL-3.0-or-later
// LibTorch's heavy headers, precompiled once for the files that need them (target fourfold_trainer_autograd).
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
