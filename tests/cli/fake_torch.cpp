// SPDX-License-Identifier: GPL-3.0-or-later
// Two libraries that stand for LibTorch's: they only have to be found.
extern "C" int fourfold_fake_torch()
{
    return 0;
}
