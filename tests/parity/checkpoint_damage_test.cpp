// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint that is not as it was written is never read: one line says what is wrong, and there is a way back.
#include "runner/trainer/checkpoint/contents.h"
#include "runner/trainer/checkpoint/host_file.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/checkpoint/publish.h"
#include "tests/damaged.h"
#include "tests/parity/compare.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/trained.h"

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <fstream>

namespace fourfold::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using trainer::CheckpointContents;
using trainer::Checksums;
namespace fs = std::filesystem;

std::string text_of(const fs::path& file)
{
    const auto text = read_text_file(file);
    return text ? *text : "";
}
void write(const fs::path& file, const std::string& text)
{
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}
void flip(const fs::path& file, std::size_t at)
{
    std::string text = text_of(file);
    ASSERT_FALSE(text.empty()) << file;
    text[at % text.size()] = static_cast<char>(text[at % text.size()] ^ 1);
    write(file, text);
}
// The one line that reading the folder ends with; empty: it can be read.
std::string line_of(const fs::path& folder)
{
    const auto opened = CheckpointContents::open(folder);
    return opened ? "" : opened.error().line();
}

// A run of four steps with a checkpoint after the second and the last, on two pipeline ranks.
class CheckpointDamage : public ::testing::Test {
protected:
    void SetUp() override
    {
        tokens = write_tokens(folder.path());
        const auto written
            = train(tiny_plan(tokens, {"gpus=2", "layout.pp=2", "run.steps=4", "run.checkpoint.every=2"}),
                folder.path() / "run");
        ASSERT_EQ(written.problem, "");
        all = folder.path() / "run/checkpoints";
        older = written.checkpoints.at(2);
        newest = written.checkpoints.at(4);
        ASSERT_EQ(line_of(newest), "");
    }
    [[nodiscard]] fs::path copy(const std::string& name) const
    {
        fs::copy(newest, folder.path() / name, fs::copy_options::recursive);
        return folder.path() / name;
    }
    // Trains one step more than the checkpoint in `load` has.
    [[nodiscard]] Trained resume(const fs::path& load, const std::vector<std::string>& assignments = {})
    {
        return train(
            tiny_plan(tokens, joined({"run.steps=6", "run.checkpoint.load=\"" + load.string() + "\""}, assignments)),
            folder.path() / ("resumed" + std::to_string(++resumed)));
    }

    TemporaryFolder folder;
    fs::path tokens, all, older, newest;
    int resumed = 0;
};

TEST_F(CheckpointDamage, OfEachKindIsOneClearLine)
{
    const struct {
        const char* file;
        std::function<void(const fs::path&)> damage;
        const char* says;
    } kinds[] = {
        {"model-00002-of-00002.safetensors", [](const fs::path& file) { flip(file, 3000); }, "damaged: its bytes 0 to"},
        {"optimizer-00001-of-00002.safetensors", [](const fs::path& file) { flip(file, 5000); }, "damaged: its bytes"},
        {"optimizer-00002-of-00002.safetensors",
            [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) - 1); }, "were written"},
        {"model-00001-of-00002.safetensors",
            [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) + 4096); }, "were written"},
        {"model-00001-of-00002.safetensors", [](const fs::path& file) { fs::remove(file); }, "No such file"},
        {"model.safetensors.index.json", [](const fs::path& file) { flip(file, 40); }, "damaged: its bytes"},
        {"optimizer.safetensors.index.json", [](const fs::path& file) { fs::remove(file); }, "No such file"},
        {"config.json", [](const fs::path& file) { flip(file, 10); }, "damaged: its bytes"},
        {"trainer.json", [](const fs::path& file) { flip(file, 30); }, "damaged: its bytes"},
        {"trainer.json", [](const fs::path& file) { fs::remove(file); }, "No such file"},
        {"checksums.json", [](const fs::path& file) { flip(file, 70); }, "damaged"},
        {"checksums.json", [](const fs::path& file) { fs::resize_file(file, 70); }, "damaged"},
        {"checksums.json", [](const fs::path& file) { fs::remove(file); }, "the checkpoint is not whole"},
        {"model-00001-of-00002.safetensors",
            [](const fs::path& file) {
                fs::remove(file);
                fs::create_symlink("gone", file);
            },
            "No such file"},
        {"model-00001-of-00002.safetensors",
            [](const fs::path& file) {
                fs::remove(file);
                fs::create_symlink(file.filename(), file);
            },
            "symbolic links"},
        {"model-00001-of-00002.safetensors",
            [](const fs::path& file) {
                fs::remove(file);
                ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
            },
            "is a pipe, expected a file"},
    };
    int number = 0;
    for (const auto& kind : kinds) {
        const fs::path damaged = copy("damaged" + std::to_string(++number));
        kind.damage(damaged / kind.file);
        const std::string line = line_of(damaged);
        EXPECT_THAT(line, HasSubstr(kind.says)) << number;
        EXPECT_THAT(line, HasSubstr(kind.file)) << number;
        EXPECT_EQ(line.find('\n'), std::string::npos);
    }
}

TEST_F(CheckpointDamage, AnywhereInAnyFileIsFound)
{
    std::mt19937 random(12);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(newest))
        files.push_back(entry.path());
    ASSERT_THAT(files, SizeIs(9));
    std::ranges::sort(files);
    for (int round = 0; round < 400; ++round) {
        const fs::path& file = files[std::size_t(round) % files.size()];
        const std::string whole = text_of(file);
        const std::string other = test::damaged(whole, 1 + random() % 3, random);
        if (other == whole)
            continue;
        write(file, other);
        // Of checksums.json what a reader of JSON ignores may change.
        const bool same = file.filename() == trainer::kChecksumFile
            && !Json::parse(other, nullptr, false).is_discarded() && Json::parse(other) == Json::parse(whole);
        if (!same) {
            EXPECT_THAT(line_of(newest), HasSubstr(file.filename().string())) << round;
        }
        write(file, whole);
    }
    EXPECT_EQ(line_of(newest), "");
}

TEST_F(CheckpointDamage, LinksThatLeadToWhatWasWrittenAreRead)
{
    const fs::path linked = copy("linked");
    fs::rename(linked / "model-00001-of-00002.safetensors", folder.path() / "elsewhere");
    fs::create_symlink(folder.path() / "elsewhere", linked / "model-00001-of-00002.safetensors");
    EXPECT_EQ(line_of(linked), "");
    fs::create_directory_symlink(linked, folder.path() / "latest");
    EXPECT_EQ(line_of(folder.path() / "latest"), "");
    EXPECT_EQ(resume(folder.path() / "latest").problem, "");
}

// Whichever rank finds it: one line of one rank, which names the older checkpoint.
TEST_F(CheckpointDamage, OfTheNewestNamesTheOlder)
{
    flip(newest / "optimizer-00002-of-00002.safetensors", 4000);
    for (const fs::path& load : {all, newest}) {
        const Trained refused = resume(load, {"gpus=2", "layout.dp=2"});
        ASSERT_THAT(refused.errors, SizeIs(1));
        const std::string message = refused.errors[0]["message"];
        EXPECT_THAT(message, HasSubstr("step-00000004/optimizer-00002-of-00002.safetensors: damaged: its bytes 0 to"));
        EXPECT_THAT(
            message, HasSubstr("the newest one that is whole is step-00000002: go on from it with --from-last-good"));
        EXPECT_TRUE(refused.losses.empty());
    }
}

TEST_F(CheckpointDamage, IsLeftBehindFromTheLastGood)
{
    const Trained straight = resume(older);
    ASSERT_THAT(straight.losses, SizeIs(4));
    fs::remove(newest / "trainer.json");
    const Trained gone_on = resume(all, {"run.checkpoint.from_last_good=true", "run.checkpoint.every=1"});
    ASSERT_EQ(gone_on.problem, "");
    EXPECT_EQ(gone_on.losses, straight.losses) << "bit for bit";
    // Others may be of a disk that is slower than the steps.
    EXPECT_THAT(gone_on.warnings, ::testing::Contains(HasSubstr("the run goes on from")).Times(1));
    ASSERT_FALSE(gone_on.warnings.empty());
    EXPECT_THAT(gone_on.warnings[0], HasSubstr("step-00000004/trainer.json"));
    EXPECT_THAT(gone_on.warnings[0], HasSubstr("the run goes on from step-00000002"));
    // A checkpoint that is whole is not a matter for a word.
    EXPECT_THAT(resume(older, {"run.checkpoint.from_last_good=true"}).warnings, SizeIs(0));
    fs::remove(older / "trainer.json");
    EXPECT_THAT(
        resume(all, {"run.checkpoint.from_last_good=true"}).problem, HasSubstr("no older checkpoint beside it"));
}

// Complete files of another run of the same model: silently read, they are wrong weights.
TEST_F(CheckpointDamage, StaleFilesAreNotRead)
{
    const Trained expected = resume(newest);
    ASSERT_EQ(expected.problem, "");
    const auto other
        = train(tiny_plan(tokens,
                    {"gpus=4", "layout.pp=2", "layout.tp=2", "run.seed=99", "run.steps=4", "run.checkpoint.every=4"}),
            folder.path() / "other");
    ASSERT_EQ(other.problem, "");
    const fs::path mixed = copy("mixed");
    for (const std::string kind : {"model", "optimizer"})
        fs::copy_file(fs::path(other.checkpoints.at(4)) / (kind + "-00001-of-00004.safetensors"),
            mixed / (kind + "-99999-of-99999.safetensors"));
    EXPECT_EQ(resume(mixed).losses, expected.losses);

    // As a run that was killed while it saved leaves them; the layout of the next one has other files.
    const fs::path saved = folder.path() / "saved";
    fs::create_directories(saved);
    fs::copy(other.checkpoints.at(4), saved / "step-00000006.partial", fs::copy_options::recursive);
    fs::copy(other.checkpoints.at(4), saved / "step-00000001.partial", fs::copy_options::recursive);
    EXPECT_THAT(line_of(saved / "step-00000006.partial"), HasSubstr("left of a save that did not end"));
    EXPECT_THAT(line_of(saved / "step-00000001.partial/"), HasSubstr("left of a save that did not end"));
    const Trained again = resume(newest, {"run.checkpoint.every=6", "run.checkpoint.path=\"" + saved.string() + "\""});
    ASSERT_EQ(again.problem, "");
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(saved / "step-00000006"))
        files.push_back(entry.path().filename().string());
    EXPECT_THAT(files,
        ::testing::UnorderedElementsAre("checksums.json", "config.json", "model-00001-of-00001.safetensors",
            "model.safetensors.index.json", "optimizer-00001-of-00001.safetensors", "optimizer.safetensors.index.json",
            "trainer.json"));
    files.clear();
    for (const auto& entry : fs::directory_iterator(saved))
        files.push_back(entry.path().filename().string());
    EXPECT_THAT(files, ::testing::UnorderedElementsAre("step-00000006", trainer::kLockFile))
        << "nothing unfinished is left";
}

// What earlier versions wrote of a checkpoint of this one: the optimizer's states as whole tensors, in files beside the
// model's; the first version also without their index and without checksums.
void write_as_version(int version, const fs::path& folder, const ResolvedPlan& plan)
{
    const auto contents = CheckpointContents::open(folder);
    ASSERT_TRUE(contents) << contents.error().line();
    const Json places = Json::parse(text_of(folder / "model.safetensors.index.json"))["weight_map"];
    std::map<std::string, trainer::HostFile> files;
    std::deque<std::vector<float>> values;
    Json index = Json::object();
    for (const trainer::Shard& shard : trainer::shard_table(plan, {0}, 0, 0))
        for (const std::string suffix : {trainer::kFirstMoment, trainer::kSecondMoment}) {
            const auto whole = contents->states->read(plan.model, shard, suffix, 0, shard.elements());
            ASSERT_TRUE(whole) << whole.error().line();
            std::string file = places.at(shard.parameter.name);
            file.replace(0, file.find('-'), "optimizer");
            values.emplace_back(whole->begin(), whole->end());
            const trainer::StoredLayout layout(plan.model, shard);
            files[file].name = file + ".new";
            files[file].tensors.push_back({{shard.parameter.name + suffix, "F32", layout.shape()},
                reinterpret_cast<const std::byte*>(values.back().data()), layout});
            index[shard.parameter.name + suffix] = file;
        }
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().filename().string().starts_with("optimizer"))
            fs::remove(entry.path());
    auto sums = Checksums::read(folder)->files();
    std::erase_if(sums, [](const auto& file) { return file.first.starts_with("optimizer"); });
    for (auto& [name, file] : files) {
        const auto written = file.write(folder);
        ASSERT_TRUE(written) << written.error().line();
        fs::rename(folder / file.name, folder / name);
        sums[name] = *written;
    }
    Json state = Json::parse(text_of(folder / "trainer.json"));
    state["fourfold_checkpoint"] = version;
    const auto put = [&](const std::string& name, const std::string& text) {
        write(folder / name, text);
        sums[name] = trainer::sums_of_text(text);
    };
    put("trainer.json", state.dump());
    fs::remove(folder / trainer::kChecksumFile);
    if (version == 1)
        return;
    put("optimizer.safetensors.index.json", Json{{"weight_map", index}}.dump());
    ASSERT_TRUE(Checksums(sums).write(folder));
}

TEST_F(CheckpointDamage, IsNotWhatTheVersionBeforeWrote)
{
    const auto plan = tiny_plan(tokens);
    const Trained expected = resume(newest, {"gpus=4", "layout.tp=2", "layout.dp=2"});
    ASSERT_THAT(expected.losses, SizeIs(2));
    write_as_version(2, newest, plan);
    const Trained second = resume(all, {"gpus=4", "layout.tp=2", "layout.dp=2"});
    EXPECT_EQ(second.losses, expected.losses);
    EXPECT_THAT(second.warnings, SizeIs(0));
}

TEST_F(CheckpointDamage, WithoutChecksumsIsSaidOnce)
{
    const Trained expected = resume(newest);
    write_as_version(1, newest, tiny_plan(tokens));
    const Trained resumed = resume(all);
    EXPECT_EQ(resumed.losses, expected.losses);
    ASSERT_THAT(resumed.warnings, SizeIs(1));
    EXPECT_THAT(resumed.warnings[0], HasSubstr("was written without checksums"));
    Json state = Json::parse(text_of(newest / "trainer.json"));
    state["fourfold_checkpoint"] = 4;
    write(newest / "trainer.json", state.dump());
    EXPECT_THAT(line_of(newest), HasSubstr("newer Fourfold"));
}

// Hugging Face's index says which files belong together.
TEST_F(CheckpointDamage, AModelInPiecesNeedsItsIndex)
{
    const fs::path model = folder.path() / "model";
    fs::create_directories(model);
    for (const char* file : {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"})
        fs::copy_file(newest / file, model / file);
    EXPECT_THAT(line_of(model), HasSubstr("2 files model*.safetensors, but no model.safetensors.index.json"));
    fs::copy_file(newest / "model.safetensors.index.json", model / "model.safetensors.index.json");
    EXPECT_EQ(line_of(model), "");
    Json index = Json::parse(text_of(model / "model.safetensors.index.json"));
    index["weight_map"]["lm_head.weight"] = "model-00001-of-00002.safetensors";
    write(model / "model.safetensors.index.json", index.dump());
    EXPECT_THAT(line_of(model), HasSubstr("no tensor \"lm_head.weight\", which the index places there"));
    index["weight_map"]["lm_head.weight"] = "../model-00001-of-00002.safetensors";
    write(model / "model.safetensors.index.json", index.dump());
    EXPECT_THAT(line_of(model), HasSubstr("expected \"weight_map\""));
}

// Large files are checked in pieces, which readers share.
TEST(Checksum, OfALargeFileIsSharedAmongReaders)
{
    const TemporaryFolder folder;
    const int64_t bytes = trainer::kPieceBytes + 5;
    write(folder.path() / "large", "");
    fs::resize_file(folder.path() / "large", std::uintmax_t(bytes));
    trainer::Summer summer;
    const std::string zeros(1u << 20, '\0');
    for (int64_t left = bytes; left > 0; left -= int64_t(zeros.size()))
        summer.append(zeros.data(), std::size_t(std::min(left, int64_t(zeros.size()))));
    const Checksums sums({{"large", summer.finish()}});
    ASSERT_THAT(sums.files().at("large").pieces, SizeIs(2));
    ASSERT_TRUE(sums.write(folder.path()));
    const auto read = Checksums::read(folder.path());
    ASSERT_TRUE(read) << read.error().line();
    EXPECT_TRUE(read->check(folder.path()));
    std::fstream file(folder.path() / "large", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(trainer::kPieceBytes + 2).put('x');
    file.close();
    EXPECT_TRUE(read->check(folder.path(), 0, 2));
    EXPECT_THAT(read->check(folder.path(), 1, 2).error().line(), HasSubstr("its bytes 67108864 to 67108869"));
    EXPECT_FALSE(read->check(folder.path()));
}

} // namespace
} // namespace fourfold::testing
