// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace fourfold {
namespace {

// Sets variables for one test; an empty optional removes one.
using Variables = std::map<std::string, std::optional<std::string>>;
class Environment {
public:
    explicit Environment(const Variables& values)
    {
        for (const auto& [name, value] : values) {
            const char* old = std::getenv(name.c_str());
            before_[name] = old ? std::optional<std::string>(old) : std::nullopt;
            set(name, value);
        }
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment()
    {
        for (const auto& [name, value] : before_)
            set(name, value);
    }

private:
    static void set(const std::string& name, const std::optional<std::string>& value)
    {
        if (value)
            ::setenv(name.c_str(), value->c_str(), 1);
        else
            ::unsetenv(name.c_str());
    }
    Variables before_;
};

TEST(Paths, FollowTheXdgVariables)
{
    const Environment environment(
        {{"XDG_DATA_HOME", "/x/data"}, {"XDG_CONFIG_HOME", "/x/config"}, {"XDG_CACHE_HOME", "/x/cache"}});
    EXPECT_EQ(data_folder(), "/x/data/fourfold");
    EXPECT_EQ(config_folder(), "/x/config/fourfold");
    EXPECT_EQ(cache_folder(), "/x/cache/fourfold");
}

// It would be another folder wherever the program is started.
TEST(Paths, ARelativeHomeIsNone)
{
    const Environment environment(Variables{{"HOME", "somewhere"}, {"XDG_DATA_HOME", std::nullopt}});
    EXPECT_TRUE(home_folder().is_absolute());
    EXPECT_TRUE(data_folder().is_absolute());
}

TEST(Paths, DefaultsLieInTheHomeFolder)
{
    const Environment environment(Variables{{"HOME", "/home/somebody"}, {"XDG_DATA_HOME", std::nullopt},
        {"XDG_CONFIG_HOME", ""}, {"XDG_CACHE_HOME", "relative/is/ignored"}});
    EXPECT_EQ(data_folder(), "/home/somebody/.local/share/fourfold");
    EXPECT_EQ(config_folder(), "/home/somebody/.config/fourfold");
    EXPECT_EQ(cache_folder(), "/home/somebody/.cache/fourfold");
}

TEST(Paths, WithoutHomeTheUserDatabaseHelps)
{
    const Environment environment(Variables{{"HOME", std::nullopt}, {"XDG_DATA_HOME", std::nullopt}});
    EXPECT_TRUE(data_folder().is_absolute());
}

TEST(Paths, PresetFoldersInOrderOfPrecedence)
{
    const Environment environment(Variables{{"XDG_CONFIG_HOME", "/x/config"}, {"FOURFOLD_PRESETS", "/a::/b"}});
    const auto folders = preset_folders();
    ASSERT_EQ(folders.size(), 5u);
    EXPECT_EQ(folders[0], "/x/config/fourfold/presets");
    EXPECT_EQ(folders[1], "/a");
    EXPECT_EQ(folders[2], "/b");
    EXPECT_EQ(folders[3], program_folder().parent_path() / "share/fourfold/presets");
    EXPECT_EQ(folders[4], FOURFOLD_SOURCE_DIR "/presets");
    EXPECT_TRUE(std::filesystem::is_directory(folders[4]));
}

TEST(Paths, ResourceFolders)
{
    const Environment environment(Variables{{"FOURFOLD_RESOURCES", "/r"}});
    const auto folders = resource_folders();
    EXPECT_EQ(folders[1], "/r");
    EXPECT_TRUE(std::filesystem::exists(folders.back() / "corpus"));
}

TEST(Paths, ScriptFolders)
{
    const auto folders = script_folders();
    ASSERT_EQ(folders.size(), 2u);
    EXPECT_EQ(folders[0], program_folder().parent_path() / "share/fourfold/packaging");
    EXPECT_TRUE(std::filesystem::exists(folders[1] / "libtorch.sh"));
}

TEST(Paths, ProgramFolderHoldsThisProgram)
{
    EXPECT_TRUE(std::filesystem::exists(program_folder() / "test_base"));
}

TEST(Paths, PrivateFoldersAreTheUsersWhateverTheUmask)
{
    std::string pattern = testing::TempDir() + "paths.XXXXXX";
    const std::filesystem::path top = mkdtemp(pattern.data());
    const mode_t before = umask(0);
    EXPECT_FALSE(make_private_folders(top / "data" / "fourfold" / "runs"));
    EXPECT_FALSE(make_private_folders(top / "data" / "fourfold" / "runs")) << "there already";
    umask(before);
    for (const char* made : {"data", "data/fourfold", "data/fourfold/runs"})
        EXPECT_EQ(std::filesystem::status(top / made).permissions(), std::filesystem::perms::owner_all) << made;
    std::ofstream(top / "file") << "in the way";
    EXPECT_EQ(make_private_folders(top / "file" / "below"), std::errc::file_exists);
    EXPECT_EQ(make_private_folders(top / "file"), std::errc::file_exists);
    std::filesystem::remove_all(top);
}

} // namespace
} // namespace fourfold
