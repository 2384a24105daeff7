// SPDX-License-Identifier: GPL-3.0-or-later
// What the agent runs, or verifies once and uses later, comes from places where no other user can put anything else.
#include "core/base/sha256.h"
#include "runner/agent/checks/container_checks.h"
#include "runner/agent/checks/load_checks.h"
#include "runner/agent/files/lay_out.h"
#include "runner/agent/files/store.h"
#include "runner/agent/run/run_folder.h"
#include "runner/agent/system/trusted_path.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace fourfold {
namespace {

constexpr uid_t kStranger = 64123; // no user of any machine that this runs on

class TrustedPath : public testing::Test {
protected:
    TrustedPath()
    {
        umask(022);
        std::string pattern = testing::TempDir() + "trust.XXXXXX";
        top = std::filesystem::canonical(mkdtemp(pattern.data()));
    }
    ~TrustedPath() override
    {
        std::error_code ignored;
        std::filesystem::remove_all(top, ignored);
    }

    std::filesystem::path folder(const std::string& name, mode_t mode = 0755) const
    {
        std::filesystem::create_directories(top / name);
        chmod((top / name).c_str(), mode);
        return top / name;
    }
    std::filesystem::path file(const std::string& name, const std::string& content, mode_t mode = 0644) const
    {
        std::ofstream(top / name) << content;
        chmod((top / name).c_str(), mode);
        return top / name;
    }
    static void give_away(const std::filesystem::path& place)
    {
        ASSERT_EQ(lchown(place.c_str(), kStranger, kStranger), 0) << place;
    }
    // Why the folder is not taken, or made; empty when it is.
    static std::string folder_fault(const std::filesystem::path& place, const GroupFolders& group_writable = {})
    {
        const auto opened = open_trusted_folder(place, group_writable, true);
        return opened ? "" : opened.error().line();
    }
    static std::string file_fault(const std::filesystem::path& place, const GroupFolders& group_writable = {})
    {
        const auto opened = open_trusted_file(place, group_writable);
        return opened ? "" : opened.error().line();
    }
    static bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

    std::filesystem::path top;
};

#define NEEDS_ROOT()                                                                                                   \
    if (geteuid() != 0)                                                                                                \
    GTEST_SKIP() << "giving a file to another user needs the right to change owners (CAP_CHOWN)"

TEST_F(TrustedPath, MissingFoldersAreMadeForTheUserAlone)
{
    ASSERT_EQ(folder_fault(top / "a/b//c/"), "");
    struct stat info { };
    for (const char* name : {"a", "a/b", "a/b/c"}) {
        ASSERT_EQ(stat((top / name).c_str(), &info), 0) << name;
        EXPECT_EQ(info.st_mode & 07777, 0700u) << name;
    }
    EXPECT_FALSE(open_trusted_folder(top / "not/there", {}, false));
    EXPECT_FALSE(std::filesystem::exists(top / "not"));
}

TEST_F(TrustedPath, NothingIsMadeBelowFoldersThatOthersMayWrite)
{
    const auto shared = folder("lab", 0775);
    const std::string group = folder_fault(shared / "base");
    EXPECT_TRUE(says(group, shared.string() + " may be written by its group")) << group;
    EXPECT_TRUE(says(group, "chmod g-w " + shared.string())) << group;
    EXPECT_TRUE(says(group, "group_writable_folders")) << group;
    EXPECT_TRUE(std::filesystem::is_empty(shared));
    // Named by the user; a name that only begins alike is another one.
    EXPECT_NE(folder_fault(shared / "base", {shared.string() + "x", top.string()}), "");
    EXPECT_EQ(folder_fault(shared / "base", {"/elsewhere", shared.string()}), "");

    const auto open = folder("open", 0757);
    const std::string others = folder_fault(open / "base", {open.string()});
    EXPECT_TRUE(says(others, open.string() + " may be written by others")) << others;
    EXPECT_TRUE(std::filesystem::is_empty(open));
    // Where only owners may move what is theirs, what is the user's stays.
    EXPECT_EQ(folder_fault(folder("scratch", 01777) / "base"), "");
}

TEST_F(TrustedPath, LinksLeadAsFarAsTheirOwnersAreTrusted)
{
    const auto lab = folder("lab", 0775), home = folder("home");
    symlink(home.c_str(), (top / "absolute").c_str());
    symlink("../home/./../home", (folder("links") / "relative").c_str());
    symlink("lab", (top / "to-lab").c_str());
    symlink("circle", (top / "circle").c_str());
    EXPECT_EQ(folder_fault(top / "absolute/x"), "");
    EXPECT_EQ(folder_fault(top / "links/relative/y"), "");
    EXPECT_TRUE(std::filesystem::is_directory(home / "x") && std::filesystem::is_directory(home / "y"));
    const std::string through = folder_fault(top / "to-lab/x");
    EXPECT_TRUE(says(through, lab.string() + " may be")) << through;
    EXPECT_EQ(folder_fault(top / "to-lab/x", {lab.string()}), "") << "the folder counts, however it is reached";
    EXPECT_TRUE(says(folder_fault(top / "circle/x"), "cannot be followed"));
}

TEST_F(TrustedPath, AnotherUsersFoldersAndLinksAreRefused)
{
    NEEDS_ROOT();
    const auto scratch = folder("scratch", 01777), theirs = folder("scratch/theirs"), home = folder("home");
    give_away(theirs);
    const std::string owner = folder_fault(theirs / "base", {theirs.string()});
    EXPECT_TRUE(says(owner, theirs.string() + " belongs to another user")) << owner;
    EXPECT_TRUE(std::filesystem::is_empty(theirs));
    symlink(home.c_str(), (scratch / "link").c_str());
    give_away(scratch / "link");
    const std::string link = folder_fault(scratch / "link/base");
    EXPECT_TRUE(says(link, (scratch / "link").string() + " belongs to another user")) << link;
    EXPECT_TRUE(std::filesystem::is_empty(home)) << "not even a folder of one's own is found through it";
    // A link of one's own that leads to theirs, and back again.
    symlink((theirs / "back").c_str(), (top / "mine").c_str());
    symlink(home.c_str(), (theirs / "back").c_str());
    EXPECT_TRUE(says(folder_fault(top / "mine/base"), theirs.string()));
    EXPECT_TRUE(std::filesystem::is_empty(home));
}

// As a process finds it that `unshare -U` started, or a container without subordinate ids.
TEST_F(TrustedPath, WhereOwnersCannotBeToldNobodyIsTrusted)
{
    for (const bool is_mapped : {false, true}) {
        int answer[2];
        ASSERT_EQ(pipe(answer), 0);
        const pid_t child = fork();
        if (child == 0) {
            constexpr uid_t kOther = 12345;
            if (geteuid() == 0 && setresuid(kOther, kOther, kOther) != 0)
                _exit(2);
            const uid_t own = geteuid();
            if (unshare(CLONE_NEWUSER) != 0)
                _exit(2);
            if (is_mapped)
                std::ofstream("/proc/self/uid_map") << own << " " << own << " 1";
            const std::string said = folder_fault("/usr");
            (void)!write(answer[1], said.data(), said.size());
            _exit(0);
        }
        close(answer[1]);
        std::string said(1000, '\0');
        said.resize(std::size_t(std::max<ssize_t>(0, read(answer[0], said.data(), said.size()))));
        close(answer[0]);
        int status = 0;
        waitpid(child, &status, 0);
        if (WEXITSTATUS(status) == 2)
            GTEST_SKIP() << "user name spaces cannot be made here";
        EXPECT_TRUE(says(said, "/ belongs neither to root nor to you")) << said;
        EXPECT_TRUE(says(said, "user name space")) << said;
    }
}

TEST_F(TrustedPath, OnlyRegularFilesAreOpened)
{
    EXPECT_EQ(file_fault(file("good", "x")), "");
    EXPECT_TRUE(says(file_fault(file("loose", "x", 0664)), "may be written by others"));
    EXPECT_TRUE(says(file_fault(top), "is not a regular file"));
    ASSERT_EQ(mkfifo((top / "fifo").c_str(), 0600), 0);
    EXPECT_TRUE(says(file_fault(top / "fifo"), "is not a regular file")) << "and nobody waits for a writer";
    symlink("/dev/null", (top / "device").c_str());
    EXPECT_TRUE(says(file_fault(top / "device"), "is not a regular file"));
    folder("lab", 0775);
    file("lab/library", "x");
    symlink("lab/library", (top / "link").c_str());
    EXPECT_TRUE(says(file_fault(top / "link"), "lab may be written by its group"));
    EXPECT_EQ(file_fault(top / "link", {(top / "lab").string()}), "");
    if (geteuid() == 0) {
        give_away(file("theirs", "x"));
        EXPECT_TRUE(says(file_fault(top / "theirs"), "belongs to another user"));
    }
}

TEST_F(TrustedPath, TheBaseFolderIsPrivateAndSoIsWhatIsInIt)
{
    const auto base = folder("base");
    ASSERT_TRUE(checked_base(base.string()));
    for (const char* name : {"agent", "runs", "store"}) {
        chmod((base / name).c_str(), 0777);
        const auto open = checked_base(base.string());
        ASSERT_FALSE(open) << name;
        EXPECT_TRUE(says(open.error().line(), (base / name).string() + " may be written by others"));
        chmod((base / name).c_str(), 0700);
    }
    chmod(base.c_str(), 0775);
    EXPECT_FALSE(checked_base(base.string(), {base.string()})) << "not even where its group is trusted";
    chmod(base.c_str(), 0700);
    // Who could write it before may have left a folder there, and still be in it.
    if (geteuid() == 0) {
        give_away(base / "store");
        const auto planted = checked_base(base.string());
        ASSERT_FALSE(planted);
        EXPECT_TRUE(says(planted.error().line(), (base / "store").string() + " belongs to another user"));
    }
}

TEST_F(TrustedPath, ARunFolderThatSomebodyElseMadeIsNotUsed)
{
    const auto base = checked_base((top / "base").string());
    ASSERT_TRUE(base);
    const RunFolder run(*base, "RUN", 1);
    ASSERT_TRUE(run.create());
    chmod(run.path().c_str(), 0777);
    EXPECT_FALSE(run.create());
    chmod(run.path().c_str(), 0700);
    // The folders in it, when the files are laid out.
    RunSpec spec;
    spec.files = {{"bin/program", {}, 0, file("program", "x").string()}};
    Store store(*base);
    ASSERT_TRUE(lay_out_files(store, run, spec));
    chmod((run.path() / "bin").c_str(), 0777);
    const auto open = lay_out_files(store, run, spec);
    ASSERT_FALSE(open);
    EXPECT_TRUE(says(open.error().line(), "bin may be written by others")) << open.error().line();
}

class TrustedStore : public TrustedPath {
protected:
    const std::string content = std::string(3u << 20, 'x') + "library";
    const std::string hash = sha256_hex(content);

    // Where the file is used from when this one is offered.
    std::filesystem::path place_of(Store& store, const std::filesystem::path& offered)
    {
        const std::vector<std::string> candidates{offered.string()};
        if (const auto found = store.find(hash, content.size(), candidates))
            return *found;
        return store.copy(hash, content.size(), candidates).value_or("");
    }
};

TEST_F(TrustedStore, AFileThatOthersCouldExchangeIsCopied)
{
    const auto base = checked_base((top / "base").string());
    ASSERT_TRUE(base);
    Store store(*base);
    const auto mine = file("mine", content);
    EXPECT_EQ(place_of(store, mine), mine);

    folder("lab", 0775);
    const auto shared = file("lab/library", content);
    Store trusting(*base, {(top / "lab").string()});
    EXPECT_EQ(place_of(trusting, shared), shared) << "the group is trusted";
    ASSERT_EQ(place_of(store, shared), store.place(hash));
    // What happens to the original afterwards is nothing to the copy.
    file("lab/library", "evil");
    EXPECT_TRUE(store.verify(store.place(hash), hash));
    EXPECT_EQ(*sha256_file(store.place(hash)), hash);
    EXPECT_EQ(place_of(store, shared), store.place(hash));
}

TEST_F(TrustedStore, OnlyTheRightContentIsCopied)
{
    const auto base = checked_base((top / "base").string());
    ASSERT_TRUE(base);
    Store store(*base);
    folder("lab", 0775);
    EXPECT_EQ(place_of(store, file("lab/wrong", std::string(content.size(), 'y'))), "");
    EXPECT_EQ(place_of(store, file("lab/short", "x")), "");
    ASSERT_EQ(mkfifo((top / "lab/fifo").c_str(), 0666), 0);
    EXPECT_EQ(place_of(store, top / "lab/fifo"), "") << "and nobody waits for a writer";
    EXPECT_EQ(place_of(store, top / "lab/none"), "");
    EXPECT_TRUE(std::filesystem::is_empty(*base / "store"));
}

TEST_F(TrustedStore, AFileInPlaceIsLookedAtAgainBeforeTheRun)
{
    const auto base = checked_base((top / "base").string());
    ASSERT_TRUE(base);
    Store store(*base);
    const RunFolder run(*base, "RUN", 0);
    ASSERT_TRUE(run.create());
    folder("lib");
    RunSpec spec;
    spec.files = {{"bin/library", hash, content.size(), file("lib/library", content).string()}};
    EXPECT_TRUE(lay_out_files(store, run, spec));
    chmod((top / "lib").c_str(), 0777);
    const auto open = lay_out_files(store, run, spec);
    ASSERT_FALSE(open);
    EXPECT_EQ(open.error().code, ProblemCode::refused);
    EXPECT_TRUE(says(open.error().line(), "lib may be written by others")) << open.error().line();
}

TEST_F(TrustedStore, WhatAnotherUserLeftInTheStoreIsSentAgain)
{
    NEEDS_ROOT();
    const auto base = checked_base((top / "base").string());
    ASSERT_TRUE(base);
    const auto planted = file("base/store/" + hash, content);
    give_away(planted);
    Store store(*base);
    EXPECT_FALSE(store.verify(planted, hash)) << "right now it is right, but it is theirs";
    EXPECT_FALSE(store.find(hash, content.size(), {}));
    EXPECT_FALSE(std::filesystem::exists(planted));
    ASSERT_EQ(mkfifo((*base / "store" / (hash + ".part")).c_str(), 0600), 0);
    EXPECT_FALSE(store.begin(hash, content.size()));
}

// Hashes that are remembered would make any content pass for any other.
TEST_F(TrustedStore, RememberedHashesOfAnotherUserAreNotBelieved)
{
    const auto base = checked_base((top / "base").string());
    ASSERT_TRUE(base);
    const auto evil = file("evil", std::string(content.size(), 'e'));
    {
        HashCache lie(*base / "hashes.json");
        lie.remember(evil, hash);
    }
    {
        HashCache own(*base / "hashes.json");
        ASSERT_EQ(own.sha256(evil).value(), hash) << "the lie is well told";
    }
    chmod((*base / "hashes.json").c_str(), 0666);
    Store open(*base);
    EXPECT_FALSE(open.find(hash, content.size(), {evil.string()}));
    if (geteuid() == 0) {
        chmod((*base / "hashes.json").c_str(), 0644);
        give_away(*base / "hashes.json");
        Store theirs(*base);
        EXPECT_FALSE(theirs.find(hash, content.size(), {evil.string()}));
    }
}

// A library is code that runs when the loader takes it.
TEST_F(TrustedPath, ALibraryThatOthersCouldExchangeIsNotLoaded)
{
    const auto libraries = folder("home/.local/lib/python3.9/site-packages/nvidia/nccl/lib", 0775);
    std::filesystem::copy_file("/lib/x86_64-linux-gnu/libm.so.6", libraries / "libnccl.so.2");
    const std::string before = std::getenv("HOME") ? std::getenv("HOME") : "";
    setenv("HOME", (top / "home").c_str(), 1);
    const Json found = nccl_checks();
    chmod(libraries.c_str(), 0755);
    const Json now = nccl_checks();
    setenv("HOME", before.c_str(), 1);
    ASSERT_EQ(found.size(), 1u);
    ASSERT_EQ(now.size(), 1u);
    const std::string file = (libraries / "libnccl.so.2").string();
    const auto is_loaded = [&](const Json& finding) {
        return says(finding["message"].get<std::string>(), " loads")
            && says(finding["evidence"].get<std::string>(), file);
    };
    EXPECT_TRUE(is_loaded(now[0])) << now.dump();
    EXPECT_FALSE(is_loaded(found[0])) << found.dump();
}

// The user names an image, so it is not refused; that it is somebody else's to exchange is said.
TEST_F(TrustedPath, AnImageThatOthersCouldExchangeIsNamed)
{
    folder("images");
    const auto image = file("images/a.sif", "x");
    const auto text = [&](const std::filesystem::path& named) {
        return container_findings(named.string(), true, {{"PATH", "/usr/bin"}}).dump();
    };
    EXPECT_FALSE(says(text(image), "exchange")) << text(image);
    chmod((top / "images").c_str(), 0777);
    EXPECT_TRUE(says(text(image), "other users could exchange the image")) << text(image);
    EXPECT_TRUE(says(text(image), "images may be written by others")) << text(image);
    EXPECT_TRUE(says(text(folder("images/sandbox")), "images may be written by others"));
    EXPECT_FALSE(says(text("docker://debian:12"), "exchange"));
}

} // namespace
} // namespace fourfold
