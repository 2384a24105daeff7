// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/rehearsed_device.h"

#include "runner/trainer/rehearsal/cpu_kernels.h"
#include "runner/trainer/rehearsal/lasting.h"
#include "runner/trainer/rehearsal/meta_kernels.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace fourfold::trainer {

namespace {
// LibTorch's allocators and callbacks are of the process.
Ledger* ledger = nullptr;
const RehearsalPrices* prices = nullptr;
DeviceTraits traits;

thread_local int on_host = 0; // OnHosts that live

// What happens here happens beside the device; a CPU's memory is the host's.
bool is_apart()
{
    return on_host > 0 && !traits.cpu;
}

// cuBLAS has a handle in each thread that calls it, and each handle a workspace, which LibTorch takes from the
// allocator with the first product and keeps. The trainer's thread and autograd's call it.
struct Workspaces {
    bool trainer = false, autograd = false; // taken
};
Workspaces workspaces, of_recordings; // which have a stream of their own

// Autograd adds a second gradient to the first in its place where nobody else has that, but not on device `meta`
// (can_accumulate_inplace() in torch/csrc/autograd/input_buffer.cpp): the sum gets the memory of the first.
uint64_t given_to_sum = 0; // what the next allocation gets
std::map<uint64_t, int> more_owners; // of memory that was given
std::map<int, int> nodes_at_work; // by graph task: none, and autograd itself is at work

class LedgerAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        const c10::Device device(c10::DeviceType::Meta);
        if (!ledger || bytes == 0 || is_apart())
            return {nullptr, nullptr, &ignore, device};
        if (const uint64_t given = std::exchange(given_to_sum, 0); given != 0) {
            ++more_owners[given];
            auto* const again = reinterpret_cast<void*>(given);
            return {again, again, &release, device};
        }
        // An address of the model: it tells tensors apart and is never read.
        auto* const address = reinterpret_cast<void*>(ledger->allocate(bytes));
        return {address, address, &release, device};
    }
    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void*, const void*, std::size_t) const override { }

private:
    static void ignore(void*) { }
    static void release(void* address)
    {
        const auto at = reinterpret_cast<uint64_t>(address);
        if (const auto more = more_owners.find(at); more != more_owners.end()) {
            if (--more->second == 0)
                more_owners.erase(more);
        } else if (ledger) {
            ledger->free(at);
        }
    }
};

bool adds_in_place(const at::RecordFunction& function)
{
    const int task = torch::autograd::get_current_graph_task_id();
    if (task < 0 || at::GradMode::is_enabled() || function.name() != std::string_view("aten::add")
        || nodes_at_work.contains(task))
        return false;
    const at::Tensor &sum = function.inputs()[0].toTensor(), &other = function.inputs()[1].toTensor();
    constexpr std::size_t kOwners = 2; // the buffer and this call's list of inputs
    return sum.is_meta() && sum.is_non_overlapping_and_dense() && sum.use_count() == kOwners
        && sum.storage().use_count() == 1 && sum.sizes() == other.sizes() && sum.scalar_type() == other.scalar_type();
}

// Operators that launch no kernel themselves: views, what only makes memory, and what is put together of others.
constexpr std::array<std::string_view, 45> kNoKernel{"detach", "aten::_reshape_alias", "aten::_unsafe_view",
    "aten::alias", "aten::as_strided", "aten::chunk", "aten::contiguous", "aten::detach", "aten::detach_",
    "aten::empty", "aten::empty_like", "aten::empty_strided", "aten::expand", "aten::expand_as", "aten::flatten",
    "aten::item", "aten::lift_fresh", "aten::linear", "aten::matmul", "aten::narrow", "aten::new_empty",
    "aten::new_empty_strided", "aten::permute", "aten::reshape", "aten::resize_", "aten::result_type", "aten::select",
    "aten::slice", "aten::split", "aten::squeeze", "aten::stride", "aten::sum_to_size", "aten::t", "aten::to",
    "aten::transpose", "aten::type_as", "aten::unbind", "aten::unflatten", "aten::unsqueeze", "aten::view",
    "aten::view_as", "aten::variable_data", "aten::_has_compatible_shallow_copy_type", "aten::is_same_size",
    "aten::resolve_conj"};

struct Call final : at::ObserverContext {
    KernelWork work; // of a product or an attention
    double bytes = 0; // of its inputs
    std::vector<std::pair<uint64_t, uint64_t>> reads; // while operations are under way
    int64_t kernels_before = 0; // of the rank
    int64_t copies = 0; // bytes, of operands in another type
    bool on_device = false, on_host = false, is_product = false;
};
int64_t kernels = 0; // counted so far, by the calls that have ended

template <typename Use>
void each_tensor(const c10::IValue& value, Use&& use)
{
    if (value.isTensor() && value.toTensor().defined())
        use(value.toTensor());
    else if (value.isTensorList())
        for (const at::Tensor& tensor : value.toTensorVector())
            use(tensor);
}

KernelWork product(const at::Tensor& a, const at::Tensor& b)
{
    const double n = double(b.size(-1)), k = double(a.size(-1)), m = double(a.size(-2));
    const Gemm gemm{
        .m = m, .n = n, .k = k, .batch = a.dim() > 2 ? double(a.size(0)) : 1, .narrow = a.itemsize() == 1}; // of 8 bits
    return {.flops = flops(gemm), .seconds = prices->product(gemm, a.scalar_type() == at::kFloat)};
}

// query, key at `first`; whether it is causal at `causal`. [b, heads, s, head_dim]
KernelWork attention(c10::ArrayRef<const c10::IValue> inputs, std::size_t first, std::size_t causal, Phase phase)
{
    const at::Tensor& query = inputs[first].toTensor();
    const at::Tensor& key = inputs[first + 1].toTensor();
    const Attention work{.queries = double(query.size(2)),
        .keys = double(key.size(2)),
        .head_dim = double(query.size(3)),
        .batch = double(query.size(0) * query.size(1)),
        .causal = inputs[causal].toBool()};
    return {.flops = flops(work, phase), .seconds = prices->attention(work, phase)};
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function)
{
    if (is_apart())
        return nullptr;
    auto call = std::make_unique<Call>();
    const std::string_view name = function.name();
    const auto inputs = function.inputs();
    if (name == "aten::mm" || name == "aten::bmm" || name == "aten::_scaled_mm")
        call->work = product(inputs[0].toTensor(), inputs[1].toTensor());
    else if (name == "aten::addmm" || name == "aten::addmm_" || name == "aten::baddbmm")
        call->work = product(inputs[1].toTensor(), inputs[2].toTensor());
    else if (name == "aten::_scaled_dot_product_flash_attention")
        call->work = attention(inputs, 0, 4, Phase::forward);
    else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu")
        call->work = attention(inputs, 0, 4, Phase::forward);
    else if (name == "aten::_scaled_dot_product_flash_attention_for_cpu_backward")
        call->work = attention(inputs, 1, 7, Phase::backward);
    else if (name == "aten::_scaled_dot_product_flash_attention_backward")
        call->work = attention(inputs, 1, 11, Phase::backward);
    call->is_product = call->work.flops > 0 && !name.starts_with("aten::_scaled_dot");
    const bool checks = ledger->has_under_way();
    const bool computes = std::ranges::find(kNoKernel, name) == kNoKernel.end();
    for (const c10::IValue& input : inputs)
        each_tensor(input, [&](const at::Tensor& tensor) {
            if (computes && tensor.is_meta() && tensor.numel() > 0 && tensor.storage().nbytes() == 0)
                ledger->lacks(std::string(name)); // weights that were freed and not gathered again
            (tensor.is_meta() ? call->on_device : call->on_host) = true;
            call->bytes += tensor.is_meta() ? double(tensor.nbytes()) : 0;
            if (!checks)
                return;
            if (const auto range = bytes_of(tensor); range.second > range.first)
                call->reads.push_back(range);
        });
    call->kernels_before = kernels;
    if (traits.cpu && call->on_device)
        call->copies = cpu::bytes_of_copies(name, inputs);
    if (adds_in_place(function))
        given_to_sum = reinterpret_cast<uint64_t>(inputs[0].toTensor().storage().data_ptr().get());
    return call;
}

// What a kernel gives it has written: results, and operands that it changed in place.
void check_use(const Call& call, const at::RecordFunction& function)
{
    for (const auto& [begin, end] : call.reads)
        ledger->touches(begin, end, false);
    for (const c10::IValue& output : function.outputs())
        each_tensor(output, [](const at::Tensor& tensor) {
            if (const auto [begin, end] = bytes_of(tensor); end > begin)
                ledger->touches(begin, end, true);
        });
}

void take_workspace()
{
    const bool in_autograd = torch::autograd::get_current_graph_task_id() >= 0;
    Workspaces& own = ledger->apart() ? of_recordings : workspaces;
    if (!std::exchange(in_autograd ? own.autograd : own.trainer, true))
        ledger->allocate_for_good(traits.product_workspace);
}

void end(const at::RecordFunction& function, at::ObserverContext* context)
{
    if (context == nullptr)
        return;
    auto& call = static_cast<Call&>(*context);
    const std::string_view name = function.name();
    if (call.is_product && !traits.cpu)
        take_workspace();
    for (const c10::IValue& output : function.outputs())
        each_tensor(output, [&](const at::Tensor& tensor) {
            call.on_device |= tensor.is_meta();
            call.bytes += tensor.is_meta() ? double(tensor.nbytes()) : 0;
        });
    if (call.copies > 0)
        ledger->free(ledger->allocate(uint64_t(call.copies)));
    // Attention copies first what does not lie as it needs it.
    const bool by_others = kernels != call.kernels_before && call.work.flops == 0;
    if (!call.on_device || by_others || std::ranges::find(kNoKernel, name) != kNoKernel.end())
        return;
    ++kernels;
    if (call.on_host && name == "aten::copy_") {
        ledger->compute({.host_copies = 1});
        return;
    }
    if (ledger->has_under_way())
        check_use(call, function);
    if (call.work.flops == 0)
        call.work.seconds = prices->traffic(call.bytes);
    call.work.launches = 1;
    ledger->compute(call.work);
}

// Of a node of autograd's graph.
std::unique_ptr<at::ObserverContext> begin_node(const at::RecordFunction&)
{
    ++nodes_at_work[torch::autograd::get_current_graph_task_id()];
    return nullptr;
}
void end_node(const at::RecordFunction&, at::ObserverContext*)
{
    const auto at = nodes_at_work.find(torch::autograd::get_current_graph_task_id());
    if (--at->second == 0)
        nodes_at_work.erase(at);
}
} // namespace

Ledger* rehearsed_ledger()
{
    return ledger;
}

const DeviceTraits& rehearsed_device()
{
    return traits;
}

std::pair<uint64_t, uint64_t> bytes_of(const at::Tensor& tensor)
{
    if (!tensor.defined() || !tensor.is_meta() || !tensor.is_non_overlapping_and_dense()
        || !tensor.storage().data_ptr().get())
        return {};
    const auto begin = reinterpret_cast<uint64_t>(tensor.storage().data_ptr().get())
        + uint64_t(tensor.storage_offset()) * tensor.itemsize();
    return {begin, begin + tensor.nbytes()};
}

RehearsedDevice::RehearsedDevice(Ledger& own_ledger, const RehearsalPrices& own_prices, const DeviceTraits& own_traits)
    : calls_(at::addGlobalCallback(at::RecordFunctionCallback(begin, end)
                                       .needsInputs(true)
                                       .needsOutputs(true)
                                       .scopes({at::RecordScope::FUNCTION})))
    , nodes_(at::addGlobalCallback(
          at::RecordFunctionCallback(begin_node, end_node).scopes({at::RecordScope::BACKWARD_FUNCTION})))
{
    need_meta_kernels();
    static LedgerAllocator allocator;
    c10::SetAllocator(c10::DeviceType::Meta, &allocator, /*priority=*/1);
    ledger = &own_ledger;
    prices = &own_prices;
    traits = own_traits;
    kernels = 0;
    workspaces = of_recordings = {};
    more_owners.clear();
    nodes_at_work.clear();
}

RehearsedDevice::~RehearsedDevice()
{
    at::removeCallback(calls_);
    at::removeCallback(nodes_);
    ledger = nullptr;
    prices = nullptr;
    traits = {};
}

void lasting(LastingKey key, std::function<void()> change)
{
    if (ledger)
        ledger->lasting(key, std::move(change));
    else
        change();
}

void launched(double bytes)
{
    if (!ledger || on_host > 0)
        return;
    ++kernels;
    ledger->compute({.seconds = prices->traffic(bytes), .launches = 1});
}

void launched(const std::vector<at::Tensor>& reads, const std::vector<at::Tensor>& writes)
{
    if (!ledger || on_host > 0)
        return;
    double bytes = 0;
    for (const bool written : {false, true})
        for (const at::Tensor& tensor : written ? writes : reads) {
            bytes += double(tensor.nbytes());
            if (const auto [begin, end] = bytes_of(tensor); ledger->has_under_way() && end > begin)
                ledger->touches(begin, end, written);
        }
    launched(bytes);
}

OnHost::OnHost()
{
    ++on_host;
}
OnHost::~OnHost()
{
    --on_host;
}

namespace {
// The rank's own wire for copies of this direction.
int copy_wire(bool to_host)
{
    const std::string name = (to_host ? "to_host/" : "from_host/") + std::to_string(ledger->program.rank);
    std::vector<Wire>& wires = ledger->program.wires;
    const auto found = std::ranges::find(wires, name, &Wire::name);
    if (found != wires.end())
        return int(found - wires.begin());
    wires.push_back({name, {ledger->program.rank}});
    return int(wires.size()) - 1;
}
} // namespace

void RehearsedCopies::copy(const at::Tensor& from, const at::Tensor& to)
{
    if (!ledger)
        return;
    for (const bool written : {false, true})
        if (const auto [begin, end] = bytes_of(written ? to : from); ledger->has_under_way() && end > begin)
            ledger->touches(begin, end, written);
    const auto [first, last] = bytes_of(from); // none of the host's
    WireOperation asked;
    asked.wire = copy_wire(last > first);
    asked.kind = "copy";
    asked.type = toString(from.scalar_type());
    asked.elements = from.numel();
    asked.bytes = int64_t(from.nbytes());
    asked.seconds = prices->host_copy(double(asked.bytes));
    ledger->compute({.host_copies = 1, .host_bytes = double(asked.bytes)});
    ledger->lasting({"copy", asked.elements}, [this, asked] { under_way_.back().push_back(ledger->ask(asked)); });
}

int64_t RehearsedCopies::mark()
{
    if (ledger)
        ledger->lasting({"mark"}, [this] {
            ++marks_;
            under_way_.emplace_back();
        });
    return marks_;
}

void RehearsedCopies::wait(int64_t mark)
{
    if (!ledger)
        return;
    // Of a pass that is played again the marks are others, as far behind the last.
    const auto later = std::size_t(marks_ - mark) + 1;
    ledger->lasting({"wait", int64_t(later)}, [this, later] {
        for (; under_way_.size() > later; under_way_.pop_front())
            for (const int operation : under_way_.front())
                ledger->wait(operation);
    });
}

void updated_on_host(int64_t parameters)
{
    if (ledger)
        ledger->compute({.seconds = prices->host_update(double(parameters))});
}

void host_waits()
{
    if (ledger)
        ledger->compute({.host_waits = 1});
}

void host_reads()
{
    if (ledger)
        ledger->compute({.host_copies = 1, .host_waits = 1});
}

} // namespace fourfold::trainer
