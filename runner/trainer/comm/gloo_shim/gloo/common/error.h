// SPDX-License-Identifier: GPL-3.0-or-later
// See gloo/context.h in this folder.
#pragma once
#include <gloo/context.h>
