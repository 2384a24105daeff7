// SPDX-License-Identifier: GPL-3.0-or-later
// Frames that arrive at an agent from the node before it in a chain of uploads: whatever they are, the store holds only
// files whose content is the one that their name says, and nothing is written elsewhere.
#include "core/base/sha256.h"
#include "runner/agent/session/uploads.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

void must(bool holds)
{
    if (!holds)
        std::abort();
}

fs::path own_folder()
{
    std::string pattern = (fs::temp_directory_path() / "upload-fuzz.XXXXXX").string();
    static const fs::path kFolder = mkdtemp(pattern.data());
    static const int kRemoved = std::atexit([] {
        std::error_code error;
        fs::remove_all(kFolder, error);
    });
    (void)kRemoved;
    return kFolder;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fourfold;
    static const fs::path kFolder = own_folder();
    const fs::path base = kFolder / "base";
    fs::create_directories(base / "store");
    const int in = memfd_create("frames", MFD_CLOEXEC), out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    must(in >= 0 && out >= 0 && write(in, data, size) == static_cast<ssize_t>(size) && lseek(in, 0, SEEK_SET) == 0);
    take_files(in, out, base, {}, {});
    close(in);
    close(out);
    for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
        const std::string name = entry.path().filename();
        if (entry.path() == base || entry.path() == base / "store" || entry.path() == base / "hashes.json")
            continue;
        must(entry.path().parent_path() == base / "store");
        if (!name.ends_with(".part")) {
            const auto hash = sha256_file(entry.path());
            must(hash && *hash == name);
        }
    }
    std::error_code ignored;
    fs::remove_all(base, ignored);
    return 0;
}
