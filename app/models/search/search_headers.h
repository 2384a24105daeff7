// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's search for code that sees Qt: Qt's keyword `slots` is a macro, and an expression has slots.
#pragma once

#pragma push_macro("slots")
#undef slots
#include "core/expression/expression.h"
#include "core/search/fields.h"
#include "core/search/search.h"
#include "core/search/search_cost.h"
#pragma pop_macro("slots")
