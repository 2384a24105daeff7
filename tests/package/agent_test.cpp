// SPDX-License-Identifier: GPL-3.0-or-later
// The agent is copied to nodes of which nothing is known: it must not need any library there.
#include "tests/package/tree.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include <elf.h>

namespace fourfold {
namespace {

struct Needs {
    bool elf = false;
    bool interpreter = false; // a dynamic loader
    int libraries = 0; // DT_NEEDED entries
};

Needs needs_of(const std::string& bytes)
{
    Needs needs;
    Elf64_Ehdr header{};
    if (bytes.size() < sizeof header)
        return needs;
    std::memcpy(&header, bytes.data(), sizeof header);
    needs.elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64;
    for (int i = 0; needs.elf && i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        std::memcpy(
            &segment, bytes.data() + header.e_phoff + static_cast<std::size_t>(i) * header.e_phentsize, sizeof segment);
        needs.interpreter |= segment.p_type == PT_INTERP;
        if (segment.p_type != PT_DYNAMIC)
            continue;
        for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry{};
            std::memcpy(&entry, bytes.data() + segment.p_offset + at, sizeof entry);
            if (entry.d_tag == DT_NULL)
                break;
            needs.libraries += entry.d_tag == DT_NEEDED ? 1 : 0;
        }
    }
    return needs;
}

std::string read_bytes(const std::string& file)
{
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(Agent, ReaderSeesTheNeedsOfADynamicProgram)
{
    const Needs needs = needs_of(read_bytes("/proc/self/exe"));
    EXPECT_TRUE(needs.elf);
    EXPECT_TRUE(needs.interpreter);
    EXPECT_GT(needs.libraries, 0);
}

TEST(Agent, NeedsNoLoaderAndNoLibrary)
{
    if (std::strlen(FOURFOLD_SANITIZERS) > 0)
        GTEST_SKIP() << "a sanitizer's run time cannot be linked statically";
    const Needs needs = needs_of(read_bytes(FOURFOLD_BIN_DIR "/fourfold-agent"));
    ASSERT_TRUE(needs.elf) << FOURFOLD_BIN_DIR "/fourfold-agent is missing or no 64-bit ELF program";
    EXPECT_FALSE(needs.interpreter);
    EXPECT_EQ(needs.libraries, 0);
}

} // namespace
} // namespace fourfold
