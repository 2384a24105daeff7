// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/autograd/gradient_function.h"

#include "runner/trainer/autograd/kept_results.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

namespace fourfold::trainer {

namespace {
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Keeps the function alive as long as the graph may need it.
struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<GradientFunction> own)
        : function(std::move(own))
    {
    }
    std::shared_ptr<GradientFunction> function;
};

// A leaf that was saved as a KeptTensor comes back as another variable with its gradient: the leaf itself is wanted.
variable_list with_leaves(variable_list saved)
{
    for (at::Tensor& tensor : saved) {
        if (!tensor.defined() || !tensor.is_leaf() || !tensor.requires_grad())
            continue;
        if (const auto node = torch::autograd::impl::try_get_grad_accumulator(tensor))
            tensor = static_cast<torch::autograd::AccumulateGrad&>(*node).variable;
    }
    return saved;
}

struct Node : torch::autograd::Function<Node> {
    static variable_list forward(
        AutogradContext* context, at::TensorList inputs, const std::shared_ptr<GradientFunction>* function)
    {
        context->saved_data["function"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(*function));
        variable_list kept;
        KeptResults* const results = KeptResults::in_use();
        variable_list outputs = results != nullptr ? results->forward(**function, inputs.vec(), kept)
                                                   : (*function)->forward(inputs.vec(), kept);
        context->save_for_backward(std::move(kept));
        return outputs;
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients)
    {
        const auto holder = c10::static_intrusive_pointer_cast<Holder>(context->saved_data["function"].toCapsule());
        auto result = holder->function->backward(gradients, with_leaves(context->get_saved_variables()));
        result.emplace_back(); // of the function itself
        return result;
    }
};
} // namespace

GradientFunction::Tensors apply(
    const std::shared_ptr<GradientFunction>& function, const GradientFunction::Tensors& inputs)
{
    return Node::apply(at::TensorList(inputs), &function); // of a plain vector autograd would see no inputs
}

} // namespace fourfold::trainer
