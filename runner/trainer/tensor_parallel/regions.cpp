// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/regions.h"

#include <torch/csrc/autograd/custom_function.h>

namespace fourfold::trainer {

namespace {
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using Gradients = torch::autograd::variable_list;

// The autograd context carries plain values: the group travels as its address.
int64_t address(const Communicator& group)
{
    return reinterpret_cast<int64_t>(&group);
}
const Communicator& group_at(int64_t address)
{
    return *reinterpret_cast<const Communicator*>(address);
}
const Communicator& group_of(AutogradContext* context)
{
    return group_at(context->saved_data["group"].toInt());
}

at::Tensor all_reduced(const at::Tensor& x, const Communicator& group)
{
    const at::Tensor sum = x.clone(at::MemoryFormat::Contiguous);
    group.all_reduce(sum);
    return sum;
}

struct Copy : Function<Copy> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, int64_t group)
    {
        context->saved_data["group"] = group;
        return x.view_as(x);
    }
    static Gradients backward(AutogradContext* context, const Gradients& gradients)
    {
        return {all_reduced(gradients[0], group_of(context)), at::Tensor()};
    }
};

struct Sum : Function<Sum> {
    static at::Tensor forward(AutogradContext*, const at::Tensor& x, int64_t group)
    {
        return all_reduced(x, group_at(group));
    }
    static Gradients backward(AutogradContext*, const Gradients& gradients) { return {gradients[0], at::Tensor()}; }
};

struct Gather : Function<Gather> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, int64_t group)
    {
        context->saved_data["group"] = group;
        return group_at(group).all_gather(x);
    }
    static Gradients backward(AutogradContext* context, const Gradients& gradients)
    {
        return {group_of(context).reduce_scatter(gradients[0]), at::Tensor()};
    }
};

struct Scatter : Function<Scatter> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, int64_t group)
    {
        context->saved_data["group"] = group;
        return group_at(group).reduce_scatter(x);
    }
    static Gradients backward(AutogradContext* context, const Gradients& gradients)
    {
        return {group_of(context).all_gather(gradients[0]), at::Tensor()};
    }
};
} // namespace

at::Tensor enter_region(const at::Tensor& x, const Communicator& tp, bool sequence_parallel)
{
    if (tp.size() == 1)
        return x;
    return sequence_parallel ? Gather::apply(x, address(tp)) : Copy::apply(x, address(tp));
}

at::Tensor leave_region(const at::Tensor& x, const Communicator& tp, bool sequence_parallel)
{
    if (tp.size() == 1)
        return x;
    return sequence_parallel ? Scatter::apply(x, address(tp)) : Sum::apply(x, address(tp));
}

} // namespace fourfold::trainer
