// SPDX-License-Identifier: GPL-3.0-or-later
// What the trainer asks of a node's system: a C library of 2021 or newer, nothing else of C++.
#include "runner/bundle/shared_libraries.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fourfold::test {
namespace {

constexpr int kGlibcMinor = 34; // RHEL 9, Ubuntu 22.04, Debian 12

TEST(TrainerSymbols, NeedNoNewerCLibrary)
{
    const std::string trainer = FOURFOLD_BIN_DIR "/fourfold-trainer";
    const auto needed = needed_glibc_minor(trainer);
    ASSERT_TRUE(needed) << needed.error().line();
    EXPECT_LE(*needed, kGlibcMinor);
    const auto libraries = shared_libraries(trainer);
    ASSERT_TRUE(libraries) << libraries.error().line();
    EXPECT_TRUE(std::any_of(libraries->begin(), libraries->end(), [](const SharedLibrary& library) {
        return library.name == "libstdc++.so.6";
    })) << "it travels with the trainer";
    for (const SharedLibrary& library : *libraries) {
        const auto wants = needed_glibc_minor(library.file);
        ASSERT_TRUE(wants) << wants.error().line();
        EXPECT_LE(*wants, kGlibcMinor + 4) << library.name << " comes from this system and is newer than the trainer";
    }
}

} // namespace
} // namespace fourfold::test
