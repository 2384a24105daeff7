// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/recording_transport.h"

#include <algorithm>

namespace fourfold::trainer {

namespace {

class Recorded final : public Pending {
public:
    Recorded(RankProgram& program, int operation)
        : program_(program)
        , operation_(operation)
    {
    }
    void wait() override { program_.steps.push_back(~operation_); }

private:
    RankProgram& program_;
    int operation_;
};

class Recording final : public Transport {
public:
    Recording(RankProgram& program, int wire, int place)
        : program_(program)
        , wire_(wire)
        , place_(place)
    {
    }
    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) override
    {
        return collective("all_reduce", tensor, reduce == Reduce::max ? "max" : "sum");
    }
    std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor&) override
    {
        return collective("all_gather", out, "");
    }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor&, const at::Tensor& in) override
    {
        return collective("reduce_scatter", in, "sum");
    }
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        const Wire& wire = program_.wires[std::size_t(wire_)];
        WireOperation asked{wire_, "send_receive", "", 0, "", {}};
        for (const Transfer& transfer : transfers) {
            const bool sends = transfer.way == Transfer::Way::send;
            asked.messages.push_back({sends, wire.members.at(std::size_t(transfer.peer)), transfer.tensor.numel()});
            asked.type = toString(transfer.tensor.scalar_type());
            asked.elements = std::max(asked.elements, transfer.tensor.numel());
        }
        return ask(std::move(asked));
    }
    [[nodiscard]] int rank() const override { return place_; }
    [[nodiscard]] int size() const override { return int(program_.wires[std::size_t(wire_)].members.size()); }

private:
    std::unique_ptr<Pending> collective(const char* kind, const at::Tensor& larger, const char* reduction)
    {
        return ask({wire_, kind, toString(larger.scalar_type()), larger.numel(), reduction, {}});
    }
    std::unique_ptr<Pending> ask(WireOperation asked)
    {
        const int number = int(program_.operations.size());
        program_.operations.push_back(std::move(asked));
        program_.steps.push_back(number);
        return std::make_unique<Recorded>(program_, number);
    }

    RankProgram& program_;
    int wire_, place_;
};

} // namespace

std::shared_ptr<Transport> recording_transport(
    RankProgram& program, const std::string& name, std::vector<int> members, int place)
{
    program.wires.push_back({name, std::move(members)});
    return std::make_shared<Recording>(program, int(program.wires.size()) - 1, place);
}

} // namespace fourfold::trainer
