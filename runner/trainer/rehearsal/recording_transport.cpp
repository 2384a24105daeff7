// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/recording_transport.h"

#include "runner/trainer/comm/direct.h"
#include "runner/trainer/comm/ring.h"
#include "runner/trainer/rehearsal/rehearsed_device.h"

#include <ATen/ops/empty_like.h>

#include <algorithm>

namespace fourfold::trainer {

namespace {

class Recorded final : public Pending {
public:
    Recorded(Ledger& ledger, int operation, std::vector<at::Tensor> kept, std::unique_ptr<Pending> parts)
        : ledger_(ledger)
        , operation_(operation)
        , kept_(std::move(kept))
        , parts_(std::move(parts))
    {
    }
    void wait() override
    {
        ledger_.wait(operation_);
        if (parts_)
            parts_->wait();
        kept_.clear();
    }

private:
    Ledger& ledger_;
    int operation_;
    std::vector<at::Tensor> kept_;
    std::unique_ptr<Pending> parts_;
};

// For the messages that a collective of Gloo's groups consists of (comm/direct.h): what is recorded is the collective,
// what they take besides is taken.
class Unrecorded final : public Transport {
public:
    Unrecorded(int rank, int size)
        : rank_(rank)
        , size_(size)
    {
    }
    std::unique_ptr<Pending> all_reduce(const at::Tensor&, Reduce) override { return nothing(); }
    std::unique_ptr<Pending> all_gather(const at::Tensor&, const at::Tensor&) override { return nothing(); }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor&, const at::Tensor&) override { return nothing(); }
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>&) override { return nothing(); }
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }

private:
    static std::unique_ptr<Pending> nothing() { return with_buffers(nullptr, {}); }
    int rank_, size_;
};

class Recording final : public Transport {
public:
    Recording(Ledger& ledger, const RehearsalPrices& prices, int wire, int place)
        : ledger_(ledger)
        , prices_(prices)
        , wire_(wire)
        , messages_(place, size())
    {
    }
    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) override
    {
        std::unique_ptr<Pending> parts;
        if (rehearsed_device().cpu && all_reduces_directly(size(), tensor.nbytes()))
            parts = direct_all_reduce(messages_, tensor, reduce, 0);
        return collective(
            "all_reduce", tensor, reduce == Reduce::max ? "max" : "sum", tensor, tensor, std::move(parts));
    }
    std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor& in) override
    {
        if (!rehearsed_device().cpu)
            return collective("all_gather", out, "", in, out, nullptr);
        if (!all_gathers_directly(size())) // Gloo's own gathers into memory of its own first
            return collective("all_gather", out, "", in, out, with_buffers(nullptr, {{at::empty_like(out), {}}}));
        auto parts = direct_all_gather(messages_, out, in, 0); // which nobody needs any more
        return collective("all_gather", out, "", out, out, std::move(parts));
    }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& out, const at::Tensor& in) override
    {
        std::unique_ptr<Pending> parts;
        if (rehearsed_device().cpu)
            parts = reduce_scatters_directly(size(), in.nbytes())
                ? direct_reduce_scatter(messages_, out, in, 0)
                : with_buffers(nullptr, ring_buffers(out, in, size()));
        return collective("reduce_scatter", in, "sum", out, out, std::move(parts));
    }
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        return ask_messages(transfers, {});
    }
    std::unique_ptr<Pending> all_to_all(const std::vector<Transfer>& transfers, int64_t own_bytes) override
    {
        return ask_messages(transfers, own_bytes);
    }
    [[nodiscard]] int rank() const override { return messages_.rank(); }
    [[nodiscard]] int size() const override { return int(wire().members.size()); }

private:
    [[nodiscard]] const Wire& wire() const { return ledger_.program.wires[std::size_t(wire_)]; }

    struct Used {
        at::Tensor tensor;
        bool writes = false;
    };

    std::unique_ptr<Pending> ask_messages(const std::vector<Transfer>& transfers, std::optional<int64_t> own_bytes)
    {
        WireOperation asked;
        asked.own_bytes = own_bytes;
        asked.kind = "send_receive";
        std::vector<Used> kept;
        for (const Transfer& transfer : transfers) {
            const bool sends = transfer.way == Transfer::Way::send;
            asked.messages.push_back(
                {sends, wire().members.at(std::size_t(transfer.peer)), transfer.tensor.numel(), transfer.tag});
            asked.type = toString(transfer.tensor.scalar_type());
            asked.elements = std::max(asked.elements, transfer.tensor.numel());
            asked.bytes += sends ? int64_t(transfer.tensor.nbytes()) : 0;
            kept.push_back({transfer.tensor, !sends});
        }
        return ask(std::move(asked), kept, nullptr);
    }

    std::unique_ptr<Pending> collective(const char* kind, const at::Tensor& larger, const char* reduction,
        const at::Tensor& smaller, const at::Tensor& written, std::unique_ptr<Pending> parts)
    {
        WireOperation asked;
        asked.kind = kind;
        asked.type = toString(larger.scalar_type());
        asked.elements = larger.numel();
        asked.reduction = reduction;
        asked.bytes = int64_t(larger.nbytes());
        return ask(std::move(asked), {{larger, larger.is_same(written)}, {smaller, smaller.is_same(written)}},
            std::move(parts));
    }
    std::unique_ptr<Pending> ask(WireOperation asked, const std::vector<Used>& used, std::unique_ptr<Pending> parts)
    {
        asked.wire = wire_;
        const std::string& name = wire().name;
        asked.seconds = prices_.wire(std::string_view(name).substr(0, name.find('/')), asked);
        const int operation = ledger_.ask(std::move(asked));
        std::vector<at::Tensor> kept;
        for (const auto& [tensor, writes] : used) {
            const auto [begin, end] = bytes_of(tensor);
            if (end > begin)
                ledger_.keeps(operation, begin, end, writes);
            kept.push_back(tensor);
        }
        return std::make_unique<Recorded>(ledger_, operation, std::move(kept), std::move(parts));
    }

    Ledger& ledger_;
    const RehearsalPrices& prices_;
    int wire_;
    Unrecorded messages_;
};

} // namespace

std::shared_ptr<Transport> recording_transport(
    Ledger& ledger, const RehearsalPrices& prices, const std::string& name, std::vector<int> members, int place)
{
    ledger.program.wires.push_back({name, std::move(members)});
    return std::make_shared<Recording>(ledger, prices, int(ledger.program.wires.size()) - 1, place);
}

} // namespace fourfold::trainer
