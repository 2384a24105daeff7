// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/rehearsal/ledger.h"

#include "core/base/text.h"
#include "core/rehearsal/rehearsal_words.h"

#include <algorithm>
#include <utility>

namespace fourfold {

KernelWork& KernelWork::operator+=(const KernelWork& other)
{
    flops += other.flops;
    seconds += other.seconds;
    launches += other.launches;
    host_copies += other.host_copies;
    host_waits += other.host_waits;
    host_bytes += other.host_bytes;
    return *this;
}

KernelWork& KernelWork::operator-=(const KernelWork& other)
{
    return *this
        += {-other.flops, -other.seconds, -other.launches, -other.host_copies, -other.host_waits, -other.host_bytes};
}

double Tape::work_s() const
{
    double seconds = after.seconds;
    for (const Event& event : events)
        seconds += event.before.seconds;
    return seconds;
}

bool Tape::same(const Tape& other) const
{
    const auto alike = [](const Event& a, const Event& b) {
        return a.kind == b.kind && a.before == b.before && a.bytes == b.bytes && a.slot == b.slot
            && a.operation == b.operation && a.key == b.key;
    };
    return repeats == other.repeats && result == other.result && after == other.after && operations == other.operations
        && std::equal(events.begin(), events.end(), other.events.begin(), other.events.end(), alike);
}

void Ledger::note(Tape::Event event)
{
    event.before = std::exchange(since_event_, {});
    tape_->events.push_back(std::move(event));
}

uint64_t Ledger::allocate(uint64_t bytes)
{
    const uint64_t address = memory_.allocate(bytes);
    if (memory_.ran_out() && ran_out_.empty())
        ran_out_ = text_of("for %.3f GiB, ", double(bytes) / double(1 << 30))
            + (pass_ ? "in the " + pass_words(*pass_) : std::string("outside of the passes"));
    if (pass_ && lasting_depth_ == 0) {
        owners_[address] = {{pass_->kind, pass_->chunk, allocations_++}, pass_->micro_batch, false};
        if (tape_)
            note({.kind = Tape::Kind::allocate, .bytes = bytes});
    }
    return address;
}

void Ledger::allocate_for_good(uint64_t bytes)
{
    ++lasting_depth_;
    (void)allocate(bytes);
    --lasting_depth_;
}

void Ledger::free(uint64_t address)
{
    const auto known = owners_.find(address);
    if (recording()) {
        if (known == owners_.end() || known->second.micro_batch != pass_->micro_batch)
            tape_->repeats = false;
        else
            note({.kind = Tape::Kind::free, .slot = known->second.slot});
    } else if (known != owners_.end() && !known->second.result) {
        lost_track_ = true;
    }
    if (known != owners_.end())
        owners_.erase(known);
    if (has_under_way()) {
        const uint64_t end = address + memory_.bytes_at(address);
        for (const Kept& kept : kept_)
            if (kept.begin < end && address < kept.end)
                misuse(kept, "is freed");
    }
    memory_.free(address);
}

void Ledger::misuse(const Kept& kept, const std::string& how)
{
    if (misused_.empty())
        misused_ = "memory of " + operation_words(program, kept.operation) + " " + how
            + (pass_ ? " in the " + pass_words(*pass_) : std::string()) + " before it was waited for";
}

void Ledger::lacks(const std::string& kernel)
{
    if (misused_.empty())
        misused_ = "memory that was given back is used by " + kernel
            + (pass_ ? " in the " + pass_words(*pass_) : std::string());
}

void Ledger::keeps(int operation, uint64_t begin, uint64_t end, bool writes)
{
    for (const Kept& kept : kept_)
        if (kept.operation != operation && kept.begin < end && begin < kept.end && (writes || kept.writes))
            misuse(kept, "is given to " + operation_words(program, operation));
    kept_.push_back({operation, begin, end, writes});
}

void Ledger::touches(uint64_t begin, uint64_t end, bool writes)
{
    for (const Kept& kept : kept_)
        if (kept.begin < end && begin < kept.end && (writes || kept.writes))
            misuse(kept, writes ? "is written" : "is read");
}

void Ledger::advance(int step)
{
    program.steps.push_back(step);
    program.work_s.push_back(std::exchange(work_s_, 0));
    program.last_work_s = 0;
}

int Ledger::ask(WireOperation operation)
{
    const int number = int(program.operations.size());
    if (recording()) {
        asked_[number] = int(tape_->operations.size());
        note({.kind = Tape::Kind::ask, .operation = int(tape_->operations.size())});
        tape_->operations.push_back(operation);
    }
    operation.pass = pass_ ? int(program.passes.size()) - 1 : -1;
    program.operations.push_back(std::move(operation));
    advance(number);
    return number;
}

void Ledger::wait(int operation)
{
    if (recording()) {
        if (const auto own = asked_.find(operation); own != asked_.end())
            note({.kind = Tape::Kind::wait, .operation = own->second});
        else
            tape_->repeats = false;
    }
    std::erase_if(kept_, [&](const Kept& kept) { return kept.operation == operation; });
    advance(~operation);
}

void Ledger::begin_apart(int pool)
{
    memory_.use_pool(pool);
    apart_.emplace();
}

KernelWork Ledger::end_apart()
{
    memory_.use_pool(0);
    return *std::exchange(apart_, std::nullopt);
}

void Ledger::compute(const KernelWork& work)
{
    if (apart_) {
        *apart_ += work;
        return;
    }
    total_ += work;
    work_s_ += work.seconds;
    program.last_work_s = work_s_;
    if (recording())
        since_event_ += work;
}

void Ledger::lasting(LastingKey key, std::function<void()> change)
{
    ++lasting_depth_;
    change();
    --lasting_depth_;
    if (recording())
        note({.kind = Tape::Kind::lasting, .key = key, .change = std::move(change)});
}

void Ledger::begin_pass(const Action& action)
{
    pass_ = action;
    allocations_ = 0;
    const Moment now{program.steps.size(), work_s_};
    program.passes.push_back({action, now, now});
}

void Ledger::end_pass()
{
    program.passes.back().end = {program.steps.size(), work_s_};
    pass_.reset();
}

void Ledger::record()
{
    tape_.emplace();
    asked_.clear();
    since_event_ = {};
}

Tape Ledger::recorded(uint64_t result)
{
    if (result != 0) {
        const auto found = owners_.find(result);
        const bool own = found != owners_.end() && found->second.slot.kind == pass_->kind
            && found->second.slot.chunk == pass_->chunk && found->second.micro_batch == pass_->micro_batch;
        if (own) {
            found->second.result = true;
            tape_->result = found->second.slot.number;
        } else {
            tape_->repeats = false;
        }
    }
    tape_->after = std::exchange(since_event_, {});
    return *std::exchange(tape_, std::nullopt);
}

uint64_t Ledger::play(const Tape& tape)
{
    std::vector<uint64_t>& own = played_[{pass_->micro_batch, {pass_->kind, pass_->chunk}}];
    own.clear();
    std::vector<int> numbers(tape.operations.size(), -1);
    for (const Tape::Event& event : tape.events) {
        compute(event.before);
        switch (event.kind) {
        case Tape::Kind::allocate:
            own.push_back(allocate(event.bytes));
            if (tape.result == own.size() - 1)
                owners_[own.back()].result = true;
            break;
        case Tape::Kind::free: {
            uint64_t& address
                = played_.at({pass_->micro_batch, {event.slot.kind, event.slot.chunk}}).at(event.slot.number);
            const auto owner = owners_.find(address);
            if (address == 0 || owner == owners_.end() || owner->second.result)
                break; // what a pass gave away is freed by who has it
            owners_.erase(owner);
            memory_.free(std::exchange(address, 0));
            break;
        }
        case Tape::Kind::ask:
            numbers[std::size_t(event.operation)] = ask(tape.operations[std::size_t(event.operation)]);
            break;
        case Tape::Kind::wait:
            wait(numbers[std::size_t(event.operation)]);
            break;
        case Tape::Kind::lasting:
            lasting(event.key, event.change);
            break;
        }
    }
    compute(tape.after);
    return tape.result ? own.at(*tape.result) : 0;
}

void Ledger::end_step()
{
    played_.clear();
}

} // namespace fourfold
