// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/autograd/saved_tensors.h"

#include "runner/trainer/offload/activation_offload.h"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>

namespace fourfold::trainer {

namespace {
class Hooks final : public torch::autograd::SavedVariableHooks {
public:
    // Without its graph, which may lead to what saves it.
    void call_pack_hook(const at::Tensor& tensor) override
    {
        kept_ = KeptTensor(tensor.is_leaf() ? tensor : tensor.tensor_data());
    }
    at::Tensor call_unpack_hook() override { return kept_.get(); }

private:
    KeptTensor kept_;
};

// LibTorch asks its engine how tensors are to be saved, which only Python's answers.
class Engine final : public torch::autograd::Engine {
public:
    static torch::autograd::Engine& only()
    {
        static Engine engine;
        return engine;
    }
    std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override
    {
        return ActivationOffload::running() == nullptr ? nullptr : std::make_unique<Hooks>();
    }
};
} // namespace

void keep_saved_tensors_as_kept()
{
    torch::autograd::set_default_engine_stub(&Engine::only);
}

} // namespace fourfold::trainer
