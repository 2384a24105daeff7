// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that a rehearsed rank does, written down: what it asks of the network, what it allocates and frees, how
// long its kernels take. A pass (an action of the schedule) can be kept on a tape and played again for another
// micro-batch without being computed.
#pragma once

#include "core/rehearsal/caching_allocator.h"
#include "core/rehearsal/rank_program.h"

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace fourfold {

// Work of the rank itself.
struct KernelWork {
    double flops = 0; // of matrix products and attention
    double seconds = 0;
    int64_t launches = 0;
    int64_t host_copies = 0, host_waits = 0; // copies between host and device; times that the host waits for the device
    double host_bytes = 0; // that what is offloaded moves between host and device
    KernelWork& operator+=(const KernelWork& other);
    KernelWork& operator-=(const KernelWork& other);
    bool operator==(const KernelWork&) const = default;
};

// What tells a change of lasting state from others of its kind.
struct LastingKey {
    std::string_view what; // a literal
    int64_t index = 0;
    bool operator==(const LastingKey&) const = default;
};

// An allocation made in a pass: which one of it, counted from 0.
struct Slot {
    ActionKind kind = ActionKind::forward;
    int chunk = 0;
    std::size_t number = 0;
    bool operator==(const Slot&) const = default;
};

// One pass, as it went: not of which micro-batch it was.
struct Tape {
    enum class Kind { allocate, free, ask, wait, lasting };
    struct Event {
        Kind kind = Kind::allocate;
        KernelWork before = {}; // since the event before
        uint64_t bytes = 0; // allocate
        Slot slot = {}; // free: an allocation of the same micro-batch
        int operation = 0; // ask, wait: of `operations`
        LastingKey key = {};
        std::function<void()> change = {};
    };
    std::vector<Event> events;
    std::vector<WireOperation> operations;
    KernelWork after = {}; // the last event
    std::optional<std::size_t> result; // the allocation that holds what the pass gives
    // Holds for every micro-batch: everything in it is of its own micro-batch.
    bool repeats = true;

    [[nodiscard]] double work_s() const; // of the pass itself, without what it changes for good
    // Would playing the one do what the other does?
    [[nodiscard]] bool same(const Tape& other) const;
};

class Ledger {
public:
    explicit Ledger(const AllocatorSettings& memory = {})
        : memory_(memory)
    {
    }

    RankProgram program;
    [[nodiscard]] const CachingAllocator& memory() const { return memory_; }
    [[nodiscard]] const KernelWork& total() const { return total_; }
    // The pass during which memory first ran out, in words; empty: it did not.
    [[nodiscard]] const std::string& ran_out() const { return ran_out_; }

    uint64_t allocate(uint64_t bytes); // as CachingAllocator
    void free(uint64_t address);
    void allocate_for_good(uint64_t bytes); // in whatever pass: on no tape
    // Outside of passes, until end_apart(): kernels are counted apart, and memory comes from this pool. What is
    // recorded to be asked for later is counted so, and what is done before the training.
    int new_pool(bool of_graphs) { return memory_.new_pool(of_graphs); }
    void begin_apart(int pool);
    KernelWork end_apart();
    [[nodiscard]] bool apart() const { return apart_.has_value(); }
    void give_back_segments() { memory_.give_back_segments(); }
    int ask(WireOperation operation); // its number
    void wait(int operation);
    // The operation reads (writes: also writes) the bytes [begin, end) until it is waited for.
    void keeps(int operation, uint64_t begin, uint64_t end, bool writes);
    // A kernel reads, or writes, these bytes.
    void touches(uint64_t begin, uint64_t end, bool writes);
    [[nodiscard]] bool has_under_way() const { return !kept_.empty(); } // operations that need memory
    // A kernel of that name needs memory that was given back.
    void lacks(const std::string& kernel);
    // The first use of memory that an operation under way still needed, or that was given back, in words; empty: there
    // was none. Passes that are played from a tape use memory as when they were computed.
    [[nodiscard]] const std::string& misused() const { return misused_; }
    void compute(const KernelWork& work);
    // Makes a change to what outlives the pass; whoever plays the pass again makes it again.
    void lasting(LastingKey key, std::function<void()> change);

    void begin_pass(const Action& action);
    void end_pass();

    // Within a pass: everything that happens between record() and recorded() is on the tape. `result`: address of the
    // allocation that the pass gives away, 0: it gives nothing.
    void record();
    Tape recorded(uint64_t result);
    // Does what is on the tape, for the micro-batch of the pass that has begun. Returns the address of the result, 0
    // where there is none; the caller frees it.
    uint64_t play(const Tape& tape);
    // What was allocated in a pass was freed outside of every pass, and was not its result: tapes leave it out.
    [[nodiscard]] bool lost_track() const { return lost_track_; }
    void end_step(); // nothing of its micro-batches is left

private:
    struct Owner {
        Slot slot;
        int micro_batch = 0;
        bool result = false;
    };
    // Bytes that an operation under way needs.
    struct Kept {
        int operation = 0;
        uint64_t begin = 0, end = 0;
        bool writes = false;
    };
    void misuse(const Kept& kept, const std::string& how);
    void advance(int step);
    void note(Tape::Event event);
    [[nodiscard]] bool recording() const { return tape_ && lasting_depth_ == 0; }

    CachingAllocator memory_;
    KernelWork total_, since_event_;
    std::optional<KernelWork> apart_;
    double work_s_ = 0; // since the last step
    std::string ran_out_, misused_;
    std::vector<Kept> kept_;
    std::optional<Action> pass_;
    std::optional<Tape> tape_;
    int lasting_depth_ = 0;
    std::size_t allocations_ = 0; // of the pass
    std::map<int, int> asked_; // operation of the program -> of the tape
    std::unordered_map<uint64_t, Owner> owners_; // by address, of what passes allocated
    std::map<std::pair<int, std::pair<ActionKind, int>>, std::vector<uint64_t>> played_; // micro-batch, kind, chunk
    bool lost_track_ = false;
};

} // namespace fourfold
