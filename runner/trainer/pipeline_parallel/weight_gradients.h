// SPDX-License-Identifier: GPL-3.0-or-later
// Weight gradients that come later than the input gradients of their products: Qi et al. 2023 (arXiv:2401.10241),
// section 2. Other stages wait for input gradients alone, so that a schedule may put the rest where it would idle.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace fourfold::trainer {

class WeightGradients {
public:
    using Key = std::pair<int, int>; // chunk, micro-batch
    // Computes the gradients of some weights, in their order; keeps what it needs for that.
    using Work = std::function<std::vector<at::Tensor>()>;

    // Around a backward pass that gives input gradients alone: what operations offer in between waits for run(`key`).
    void begin_postponing(Key key);
    void end_postponing();

    // For the backward pass of an operation. False: its weight gradients are due now, `work` is not kept. True: `work`
    // runs later, the pass gives no gradient of `weights`, which are leaves.
    bool postpone(const std::vector<at::Tensor>& weights, Work work);

    [[nodiscard]] bool postpones() const { return now_ != nullptr; }

    // For work that gives no gradient to autograd (add_up()): nobody waits for it, so that it may run beside messages
    // that somebody waits for. What is left runs with catch_up(), which ends every backward pass.
    void leave(Work work)
    {
        catch_up(); // one operation's operands at a time
        left_ = std::move(work);
    }
    void catch_up();

    // Whether the pass, or the work, that runs leaves this leaf's gradient, or a part of it, for later: autograd runs
    // the hooks of such a leaf too.
    [[nodiscard]] bool waits(const at::Tensor& weight) const { return offered_.contains(weight.unsafeGetTensorImpl()); }

    // Leaves whose gradients a product adds to their sum itself, so that neither a tensor of their own nor a pass that
    // adds it is needed: one operation of a pass has each. `added` is called when that is done.
    struct Sum {
        at::Tensor total;
        std::function<void()> added;
    };
    void add_up(const at::Tensor& weight, Sum sum)
    {
        sums_.insert_or_assign(weight.unsafeGetTensorImpl(), std::move(sum));
    }
    [[nodiscard]] const Sum* sum_of(const at::Tensor& weight) const // null: autograd adds it
    {
        const auto found = sums_.find(weight.unsafeGetTensorImpl());
        return found == sums_.end() ? nullptr : &found->second;
    }

    // All work of a pass, in the order in which it was offered. Gradients are added to the leaves as a backward pass
    // does it, hooks included, and operands are freed one after the other.
    void run(Key key);

private:
    struct Operation {
        at::Tensor root; // a node of a graph
        std::vector<const at::TensorImpl*> leaves;
    };
    using Roots = std::vector<Operation>;
    std::map<Key, Roots> waiting_;
    Roots* now_ = nullptr; // null: nothing is postponed
    Work left_;
    std::map<const at::TensorImpl*, Sum> sums_;
    std::set<const at::TensorImpl*> offered_; // leaves of the pass that runs; or those that more work will add to
};

} // namespace fourfold::trainer
