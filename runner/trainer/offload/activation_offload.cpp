// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/offload/activation_offload.h"

#include "runner/trainer/autograd/before_backward.h"
#include "runner/trainer/autograd/saved_tensors.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace fourfold::trainer {

struct ActivationOffload::Layer {
    Layer(const Stays& always, const Stays& in_this_pass, int64_t smallest)
        : stays(&always)
        , stays_too(&in_this_pass)
        , least(smallest)
    {
    }
    enum class Where { device, leaving, host, coming };
    Where where = Where::device;
    CopyLane::Mark mark; // of leaving or coming
    std::vector<std::weak_ptr<OffloadedMemory>> memory; // as long as a graph needs it
    // While it runs.
    const Stays *stays, *stays_too;
    int64_t least = 0; // bytes
    std::unordered_map<const void*, std::shared_ptr<OffloadedMemory>> known;
};

namespace {
thread_local ActivationOffload::Layer* now_running = nullptr;

class Running {
public:
    explicit Running(ActivationOffload::Layer* layer)
        : before_(std::exchange(now_running, layer))
    {
    }
    ~Running() { now_running = before_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

private:
    ActivationOffload::Layer* before_;
};

const void* memory_of(const at::Tensor& tensor)
{
    return tensor.storage().unsafeGetStorageImpl();
}

at::Tensor view_of(c10::Storage storage, const at::TensorOptions& options, at::IntArrayRef sizes,
    at::IntArrayRef strides, int64_t offset)
{
    at::Tensor view = at::empty({0}, options);
    view.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(storage));
    view.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset);
    return view;
}

at::Tensor bytes_of_memory(const at::Tensor& tensor)
{
    const int64_t bytes = int64_t(tensor.storage().nbytes());
    return view_of(tensor.storage(), at::TensorOptions(at::kByte).device(tensor.device()), {bytes}, {1}, 0);
}

bool goes(const at::Tensor& tensor, const ActivationOffload::Layer& layer)
{
    return tensor.layout() == at::kStrided && int64_t(tensor.storage().nbytes()) >= layer.least
        && !(tensor.is_leaf() && tensor.requires_grad()) // a weight, or what the pipeline holds
        && !layer.stays->contains(memory_of(tensor)) && !layer.stays_too->contains(memory_of(tensor));
}
} // namespace

KeptTensor::KeptTensor(at::Tensor tensor)
{
    ActivationOffload::Layer* const layer = ActivationOffload::running();
    if (layer == nullptr || !tensor.defined() || !goes(tensor, *layer)) {
        stays_ = std::move(tensor);
        return;
    }
    auto& known = layer->known[memory_of(tensor)];
    if (!known) {
        known = std::make_shared<OffloadedMemory>(
            OffloadedMemory{bytes_of_memory(tensor), {}, int64_t(tensor.storage().nbytes()), tensor.device()});
        layer->memory.push_back(known);
    }
    memory_ = known;
    sizes_ = tensor.sizes().vec();
    strides_ = tensor.strides().vec();
    offset_ = tensor.storage_offset();
    options_ = tensor.options().requires_grad(false);
}

at::Tensor KeptTensor::get() const
{
    if (!memory_)
        return stays_;
    if (!memory_->here.defined())
        throw std::logic_error("a kept tensor is needed before its layer's backward pass");
    return view_of(memory_->here.storage(), options_, sizes_, strides_, offset_);
}

void ActivationOffload::add(Stays& stays, const at::Tensor& tensor)
{
    if (tensor.defined())
        stays.insert(memory_of(tensor));
}

ActivationOffload::Layer* ActivationOffload::running()
{
    return now_running;
}

ActivationOffload::ActivationOffload(const at::Device& device, Stays stays)
    : out_(device)
    , in_(device)
    , stays_(std::move(stays))
{
    keep_saved_tensors_as_kept();
}

at::Tensor ActivationOffload::layer(
    const std::shared_ptr<Pass>& pass, const at::Tensor& x, const std::function<at::Tensor()>& forward)
{
    if (!at::GradMode::is_enabled())
        return forward();
    const auto layer = std::make_shared<Layer>(stays_, pass->stays, int64_t(x.nbytes()) / kSmall);
    pass->layers.push_back(layer);
    at::Tensor y;
    {
        const Running scope(layer.get());
        y = forward();
    }
    settle_last();
    send(*layer);
    last_ = layer;
    return before_backward(y, [this, pass, index = pass->layers.size() - 1] { arrive(*pass, index); });
}

// Its copies had as long as the layer after it computed. What waits for them here is the device.
void ActivationOffload::settle_last()
{
    if (!last_ || last_->where != Layer::Where::leaving)
        return;
    out_.device_waits(last_->mark);
    for (const auto& each : last_->memory)
        if (const auto memory = each.lock())
            memory->here.reset();
    last_->where = Layer::Where::host;
}

void ActivationOffload::send(Layer& layer)
{
    layer.known.clear();
    std::erase_if(layer.memory, [](const auto& each) { return each.expired(); });
    out_.follow();
    for (const auto& each : layer.memory) {
        const auto memory = each.lock();
        memory->there = out_.host_room(memory->here, at::kByte);
        out_.copy(memory->here, memory->there);
    }
    layer.mark = out_.mark();
    layer.where = Layer::Where::leaving;
}

void ActivationOffload::fetch(Layer& layer)
{
    if (layer.where != Layer::Where::host)
        return;
    std::vector<std::shared_ptr<OffloadedMemory>> needed;
    for (const auto& each : layer.memory)
        if (auto memory = each.lock())
            needed.push_back(std::move(memory));
    for (const auto& memory : needed)
        memory->here = at::empty({memory->bytes}, at::TensorOptions(at::kByte).device(memory->device));
    in_.follow(); // that memory may be in use until here
    for (const auto& memory : needed)
        in_.copy(memory->there, memory->here);
    layer.mark = in_.mark();
    layer.where = Layer::Where::coming;
}

void ActivationOffload::wait_for(Layer& layer)
{
    (layer.where == Layer::Where::leaving ? out_ : in_).device_waits(layer.mark);
    for (const auto& each : layer.memory)
        if (const auto memory = each.lock())
            memory->there.reset();
    layer.where = Layer::Where::device;
}

void ActivationOffload::arrive(const Pass& pass, std::size_t index)
{
    Layer& own = *pass.layers[index];
    Layer* const next = index > 0 ? pass.layers[index - 1].get() : nullptr;
    if (last_ && last_.get() != &own && last_.get() != next)
        settle_last(); // of another micro-batch
    fetch(own);
    wait_for(own);
    if (next != nullptr)
        fetch(*next);
}

} // namespace fourfold::trainer
