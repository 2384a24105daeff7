// SPDX-License-Identifier: GPL-3.0-or-later
// How a list of allocations is put together.
#pragma once

#include "core/program/allocations.h"

namespace fourfold {

// Where there is something of it.
template <typename Number>
void add_allocation(std::vector<AllocationOf<Number>>& list, MemoryKind kind, Lifetime lifetime, const Number& bytes,
    const char* name, const char* note = "")
{
    if (value_of(bytes) > 0)
        list.push_back({kind, lifetime, bytes, name, note});
}

template <typename Number>
Number constant_input(const RankShape& rank, Constant constant)
{
    return input<Number>(info(constant).name, rank.constants[constant]);
}

} // namespace fourfold
