// SPDX-License-Identifier: GPL-3.0-or-later
// Files that the history meets: of an older or newer program, of another program, damaged, read-only.
#include "core/base/sha256.h"
#include "core/history/annotations.h"
#include "core/history/migrations.h"
#include "core/history/transfer.h"
#include "tests/damaged.h"
#include "tests/history/history_test_support.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <thread>

namespace fourfold {
namespace {

using namespace test;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string source_text(const std::string& file)
{
    return must(read_text_file(fs::path(FOURFOLD_SOURCE_DIR) / file));
}

// As a program of schema 1 would have left it, from the SQL of that schema and rows in its form.
void make_v1(const fs::path& file)
{
    SQLite::Database database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec(source_text("core/history/schema_v1.sql"));
    database.exec(source_text("tests/history/v1_rows.sql"));
    database.exec("PRAGMA application_id = 1179012164");
    database.exec("PRAGMA user_version = 1");
}

// The same as a program of a later schema, which met it, would have left it.
void make_old(const fs::path& file, int schema)
{
    make_v1(file);
    SQLite::Database database(file, SQLite::OPEN_READWRITE);
    history::migrate(database, file, schema);
}

std::string bytes_of(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Schema, ReleasedSqlIsNeverEdited)
{
    EXPECT_EQ(sha256_hex(source_text("core/history/schema_v1.sql")),
        "f6b8e920999eff3043ab6d6f71e2e3b512b45d84a2902339d667e1b1a490d231");
    EXPECT_EQ(sha256_hex(source_text("core/history/schema_v2.sql")),
        "920b755e5fb535bd68324b2ae446d6c1a1ff52ba695df88d95dd4f6df726a2d0");
    EXPECT_EQ(sha256_hex(source_text("core/history/schema_v3.sql")),
        "1358ea231011ad4d5a298a2563466829a9f613f6bf2ecd292d719ddd01f61b7f");
    EXPECT_EQ(sha256_hex(source_text("core/history/schema_v4.sql")),
        "150827d36012428a75b0182d3a622c62f4d0b5cd2aad04c8cbbb8487268a24ab");
    EXPECT_EQ(sha256_hex(source_text("core/history/schema_v5.sql")),
        "b18de2303c38e28be999b9466da5109973be67dbe4c588e1289107a28ec53e10");
}

TEST(Schema, MigratesAnOldHistoryAndKeepsItsRows)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "history.db";
    make_v1(file);
    HistoryStore store = open_store(file);
    const auto runs = must(store.list());
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].id, "OLD2");
    EXPECT_EQ(runs[0].steps, 1);
    EXPECT_EQ(runs[0].measured_tps_per_gpu, 10.0);
    EXPECT_EQ(runs[1].steps, 3);
    EXPECT_EQ(runs[1].first_loss, 5.0);
    EXPECT_EQ(runs[1].last_loss, 3.0);
    EXPECT_EQ(runs[1].eval_loss, 3.25);
    EXPECT_EQ(runs[1].measured_tps_per_gpu, 100.0);
    EXPECT_EQ(runs[1].measured_step_time_s, 3.0);
    EXPECT_EQ(runs[1].measured_memory_gib, 1.25);
    EXPECT_EQ(must(store.show("OLD1")).headline_rule, "median of steps 2..3");
    EXPECT_EQ(must(store.show("OLD1")).versions["software"]["fourfold"], "0.0.9");
    EXPECT_EQ(must(store.events("OLD1")).size(), 5u);
    // The run that was under way goes on.
    must(store.append_events("OLD2", "events", {step_line(1, 2, 100), end_line(2, "ok")}));
    EXPECT_EQ(must(store.show("OLD2")).summary.measured_tps_per_gpu, 100.0);

    SQLite::Database copy(history::backup_file(file, 1));
    EXPECT_EQ(copy.execAndGet("PRAGMA user_version").getInt(), 1);
    EXPECT_EQ(copy.execAndGet("SELECT count(*) FROM events").getInt(), 6);
    EXPECT_EQ(copy.execAndGet("PRAGMA quick_check").getString(), "ok");
}

TEST(Schema, RunsOfSchema2HaveNeitherTagsNorNotes)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "history.db";
    make_old(file, 2);
    HistoryStore store = *must(HistoryStore::open_existing(file)); // for reading, but migrated
    for (const RunSummary& run : must(store.list())) {
        EXPECT_TRUE(run.tags.empty());
        EXPECT_EQ(run.note, "");
    }
    EXPECT_EQ(must(store.list()).size(), 2u);
    EXPECT_TRUE(fs::exists(history::backup_file(file, 2)));
    EXPECT_FALSE(must(HistoryStore::open_existing(folder / "none.db")).has_value());
    EXPECT_FALSE(fs::exists(folder / "none.db"));
}

TEST(Schema, TracesOfSchema3AreDue)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "history.db";
    make_old(file, 3);
    SQLite::Database(file, SQLite::OPEN_READWRITE)
        .exec("INSERT INTO events VALUES ('OLD1', 'events', 5, 'trace', '{\"seq\":5,\"event\":\"trace\"}')");
    EXPECT_EQ(must(most_off_due(open_store(file))), std::vector<std::string>{"OLD1"});
}

// Their plans always said it. One whose plan cannot be read, or is of another stack, stays as it stands.
TEST(Schema, RunsOfSchema4SayTheReleaseOfTheirStack)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "history.db";
    make_old(file, 4);
    {
        SQLite::Database database(file, SQLite::OPEN_READWRITE);
        database.exec(R"sql(INSERT INTO plans (id, hash, layout_hash, model, cluster, layout, gpus, document) VALUES
            (2, 'b', 'b', 'm', 'c', 'l', 4, '{"stack":{"id":"megatron-core","release":"25.11"}}'),
            (3, 'c', 'c', 'm', 'c', 'l', 4, '{"stack":{"id":"megatron-core"}}'),
            (4, 'd', 'd', 'm', 'c', 'l', 4, '{"stack":{"id":"mine","release":"25.11"}}'),
            (5, 'e', 'e', 'm', 'c', 'l', 4, '{"stack":'))sql");
        for (const int plan : {2, 3, 4, 5}) {
            SQLite::Statement run(database,
                "INSERT INTO runs (id, name, target, stack, state, created, plan, prediction, environment) VALUES (?, "
                "'r', 'imported', 'megatron-core', 'ok', ?, ?, 1, '{}')");
            run.bind(1, "RUN" + std::to_string(plan));
            run.bind(2, "2026-02-0" + std::to_string(plan) + "T00:00:00.000Z");
            run.bind(3, plan);
            run.exec();
        }
    }
    std::map<std::string, std::string> stacks;
    for (const RunSummary& run : must(open_store(file).list()))
        stacks[run.id] = run.stack;
    EXPECT_EQ(stacks,
        (std::map<std::string, std::string>{{"OLD1", "fourfold"}, {"OLD2", "fourfold"}, {"RUN2", "megatron-core@25.11"},
            {"RUN3", "megatron-core"}, {"RUN4", "megatron-core"}, {"RUN5", "megatron-core"}}));
    SQLite::Database copy(history::backup_file(file, 4));
    EXPECT_EQ(copy.execAndGet("SELECT stack FROM runs WHERE id = 'RUN2'").getString(), "megatron-core");
}

TEST(Schema, MigratedAndNewFilesHaveTheSameSchema)
{
    const TemporaryFolder folder;
    make_v1(folder / "old.db");
    open_store(folder / "old.db");
    open_store(folder / "new.db");
    EXPECT_FALSE(fs::exists(history::backup_file(folder / "new.db", 1))) << "a new file has nothing to keep";
    const auto schema = [&](const char* name) {
        SQLite::Database database(folder / name);
        SQLite::Statement rows(database, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name");
        std::string text;
        while (rows.executeStep())
            text += rows.getColumn(0).getString() + "\n";
        return text;
    };
    EXPECT_EQ(schema("old.db"), schema("new.db"));
}

TEST(Schema, TwoProgramsMayOpenAnOldFileAtOnce)
{
    for (int round = 0; round < 5; ++round) {
        const TemporaryFolder folder;
        if (round % 2 == 0)
            make_v1(folder / "history.db");
        std::vector<std::string> problems(4);
        std::vector<std::thread> threads;
        for (auto& problem : problems)
            threads.emplace_back([&] {
                if (const auto store = HistoryStore::open(folder / "history.db"); !store)
                    problem = store.error().line();
            });
        for (auto& thread : threads)
            thread.join();
        for (const auto& problem : problems)
            EXPECT_EQ(problem, "");
        EXPECT_EQ(must(open_store(folder / "history.db").list()).size(), round % 2 == 0 ? 2u : 0u);
    }
}

TEST(Schema, ReadOnlyNeverMigrates)
{
    const TemporaryFolder folder;
    make_v1(folder / "history.db");
    const auto store = HistoryStore::open(folder / "history.db", StoreMode::read_only);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ProblemCode::unsupported);
    EXPECT_THAT(store.error().line(), HasSubstr("schema 1"));
}

TEST(Schema, NewerHistoriesAreReadWhereTheyCanBe)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "history.db";
    must(open_store(file).create_run(sample_run("01RUN")));
    {
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        raw.exec("ALTER TABLE runs ADD COLUMN of_the_future TEXT");
        raw.exec("PRAGMA user_version = 99");
    }
    const auto writer = HistoryStore::open(file);
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, ProblemCode::unsupported);
    EXPECT_THAT(writer.error().line(), HasSubstr("schema 99"));
    EXPECT_EQ(must(open_store(file, StoreMode::read_only).list()).size(), 1u);

    SQLite::Database(file, SQLite::OPEN_READWRITE).exec("ALTER TABLE steps RENAME TO measurements");
    const auto reader = HistoryStore::open(file, StoreMode::read_only);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, ProblemCode::unsupported);
}

TEST(Schema, RefusesTheFileOfAnotherProgramUntouched)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "other.db";
    for (const char* application : {"0", "252006675"}) {
        fs::remove(file);
        SQLite::Database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
            .exec(std::string("CREATE TABLE cats (name); PRAGMA application_id = ") + application);
        const std::string before = bytes_of(file);
        for (const StoreMode mode : {StoreMode::read_write, StoreMode::read_only}) {
            const auto store = HistoryStore::open(file, mode);
            ASSERT_FALSE(store);
            EXPECT_EQ(store.error().code, ProblemCode::unsupported);
            EXPECT_THAT(store.error().line(), HasSubstr("another program"));
        }
        EXPECT_EQ(bytes_of(file), before);
    }
}

TEST(Schema, ReportsDamageAndLeavesTheFile)
{
    const TemporaryFolder folder;
    const fs::path good = folder / "good.db";
    {
        HistoryStore store = open_store(good);
        must(store.create_run(sample_run("01RUN")));
        std::vector<std::string> lines;
        for (int i = 0; i < 500; ++i)
            lines.push_back(step_line(i, i));
        must(store.append_events("01RUN", "events", lines));
    }
    const std::string content = bytes_of(good);
    ASSERT_GT(content.size(), 40000u);
    std::string zeroed = content;
    for (std::size_t page = 2; page * 4096 < content.size(); page += 2)
        std::fill_n(zeroed.begin() + static_cast<long>(page * 4096), 4096, '\0');
    const std::pair<const char*, std::string> cases[] = {
        {"text", "this was never a database, but it is long enough to look at, line after line after line\n"},
        {"cut", content.substr(0, content.size() / 2)},
        {"pages lost", zeroed},
    };
    for (const auto& [name, damaged] : cases) {
        const fs::path file = folder / "damaged.db";
        std::ofstream(file, std::ios::binary) << damaged;
        for (const StoreMode mode : {StoreMode::read_write, StoreMode::read_only}) {
            const auto store = HistoryStore::open(file, mode);
            ASSERT_FALSE(store) << name;
            EXPECT_EQ(store.error().code, ProblemCode::io) << name;
            EXPECT_THAT(store.error().line(), HasSubstr("damaged")) << name;
            EXPECT_THAT(store.error().line(), HasSubstr("move the file away")) << name;
            EXPECT_EQ(store.error().line().find('\n'), std::string::npos);
        }
        EXPECT_EQ(bytes_of(file), damaged) << name;
    }
}

TEST(Schema, NeverCrashesOnFlippedBytes)
{
    const TemporaryFolder folder;
    {
        HistoryStore store = open_store(folder / "good.db");
        must(store.create_run(sample_run("01RUN")));
        must(store.append_events("01RUN", "events", {start_line(0), step_line(1, 1), end_line(2, "ok")}));
    }
    const std::string content = bytes_of(folder / "good.db");
    std::mt19937 random(11);
    for (int round = 0; round < 60; ++round) {
        const fs::path file = folder / ("flipped" + std::to_string(round) + ".db");
        std::ofstream(file, std::ios::binary) << damaged(content, 40, random);
        auto store = HistoryStore::open(file, round % 2 ? StoreMode::read_only : StoreMode::read_write);
        if (!store) {
            EXPECT_FALSE(store.error().message.empty());
            continue;
        }
        for (const auto& run : store->list().has_value() ? must(store->list()) : std::vector<RunSummary>{})
            (void)export_run(*store, run.id).has_value();
        (void)store->show("last").has_value();
    }
}

TEST(ReadOnly, ReadsButNeverWrites)
{
    const TemporaryFolder folder;
    HistoryStore writer = open_store(folder / "history.db");
    must(writer.create_run(sample_run("01RUN")));
    HistoryStore reader = open_store(folder / "history.db", StoreMode::read_only);
    EXPECT_EQ(must(reader.list()).size(), 1u);
    must(writer.append_events("01RUN", "events", {step_line(0, 1)}));
    EXPECT_EQ(must(reader.show("01RUN")).steps.size(), 1u) << "a reader sees what a writer adds";
    const auto refused = reader.append_events("01RUN", "events", {step_line(1, 2)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ProblemCode::io);
    EXPECT_FALSE(reader.create_run(sample_run("02RUN")));
    EXPECT_FALSE(reader.set_state("01RUN", RunState::ok));
    EXPECT_EQ(must(writer.show("01RUN")).summary.state, RunState::draft);
}

TEST(ReadOnly, NeedsAFileThatIsThere)
{
    const TemporaryFolder folder;
    const auto store = HistoryStore::open(folder / "none.db", StoreMode::read_only);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ProblemCode::not_found);
    EXPECT_FALSE(fs::exists(folder / "none.db"));
}

TEST(Open, NamesAFolderThatCannotBeMade)
{
    const TemporaryFolder folder;
    std::ofstream(folder / "file") << "x";
    const auto store = HistoryStore::open(folder / "file/history.db");
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ProblemCode::io);
    EXPECT_THAT(store.error().line(), HasSubstr("XDG_DATA_HOME"));
}

TEST(Open, TakesFoldersWithOddNames)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "a ?b#c%20ü'\"/history.db";
    must(open_store(file).create_run(sample_run("01RUN")));
    EXPECT_EQ(must(open_store(file, StoreMode::read_only).list()).size(), 1u);
    EXPECT_TRUE(fs::exists(file));
}

// One flipped bit of the header.
TEST(Schema, ANumberThatNoneHasIsDamage)
{
    const TemporaryFolder folder;
    must(HistoryStore::open(folder / "history.db"));
    SQLite::Database raw(folder / "history.db", SQLite::OPEN_READWRITE);
    for (const char* schema : {"-2147483644", "-7", "-1", "0"}) {
        raw.exec(std::string("PRAGMA user_version = ") + schema);
        for (const StoreMode mode : {StoreMode::read_only, StoreMode::read_write}) {
            const auto store = HistoryStore::open(folder / "history.db", mode);
            ASSERT_FALSE(store) << schema;
            EXPECT_NE(store.error().line().find("its schema is " + std::string(schema)), std::string::npos)
                << store.error().line();
        }
    }
    raw.exec("PRAGMA user_version = 1"); // its tables are newer
    const auto older = HistoryStore::open(folder / "history.db", StoreMode::read_write);
    ASSERT_FALSE(older);
    EXPECT_NE(older.error().line().find("the history is damaged"), std::string::npos) << older.error().line();
}

TEST(Schema, WhatStandsInTheWayIsSaid)
{
    const TemporaryFolder folder;
    const auto said = [&](const std::string& name, StoreMode mode) {
        const auto store = HistoryStore::open(folder / name, mode);
        return store ? std::string("opens") : store.error().line();
    };
    const std::string in_place = "a folder lies where the history's file should (move it away)";
    fs::create_directory(folder / "folder.db");
    fs::create_symlink("/nowhere/x", folder / "link.db");
    must(HistoryStore::open(folder / "index.db"));
    fs::create_directory(folder / "index.db-shm");
    for (const StoreMode mode : {StoreMode::read_only, StoreMode::read_write})
        EXPECT_EQ(said("folder.db", mode), (folder / "folder.db").string() + ": " + in_place);
    EXPECT_NE(said("index.db/history.db", StoreMode::read_write).find("a file lies where its folder should"),
        std::string::npos);
    HistoryStore store = must(HistoryStore::open(folder / "index.db"));
    const auto created = store.create_run(sample_run("01RUNA"));
    ASSERT_FALSE(created);
    EXPECT_EQ(created.error().line(), (folder / "index.db-shm").string() + ": " + in_place);
    EXPECT_NE(said("link.db", StoreMode::read_write).find("leads nowhere"), std::string::npos);
    fs::create_directory_symlink("/nowhere/disk", folder / "disk");
    for (const char* name : {"link.db", "disk/history.db"}) {
        const auto existing = HistoryStore::open_existing(folder / name);
        ASSERT_FALSE(existing) << name;
        EXPECT_NE(existing.error().line().find("leads nowhere"), std::string::npos);
    }
    EXPECT_TRUE(HistoryStore::open_existing(folder / "none/history.db"));
    const std::string deep = std::string(200, 'x') + "/" + std::string(200, 'y') + "/" + std::string(200, 'z');
    EXPECT_NE(said(deep + "/history.db", StoreMode::read_write).find("has at most 500 bytes"), std::string::npos);
}

TEST(Schema, MissingTablesAreDamage)
{
    const TemporaryFolder folder;
    must(HistoryStore::open(folder / "history.db"));
    SQLite::Database(folder / "history.db", SQLite::OPEN_READWRITE).exec("DROP TABLE steps");
    for (const StoreMode mode : {StoreMode::read_only, StoreMode::read_write}) {
        const auto store = HistoryStore::open(folder / "history.db", mode);
        ASSERT_FALSE(store);
        EXPECT_NE(store.error().line().find("damaged: tables or columns are missing"), std::string::npos)
            << store.error().line();
    }
}

// As a killed program leaves it where there is no write-ahead log: on network file systems.
TEST(ReadOnly, TakesBackWhatAKilledProgramBegan)
{
    const TemporaryFolder folder;
    must(HistoryStore::open(folder / "history.db"));
    std::ofstream(folder / "history.db-journal", std::ios::binary) << std::string(5000, 'x');
    const auto store = HistoryStore::open(folder / "history.db", StoreMode::read_only);
    EXPECT_TRUE(store) << store.error().line();
}

// As in a snapshot, or where another user looks.
TEST(ReadOnly, AFolderThatMayNotBeWrittenIsEnough)
{
    const TemporaryFolder folder;
    {
        HistoryStore writer = open_store(folder / "history.db");
        must(writer.create_run(sample_run("01RUN")));
    }
    ASSERT_FALSE(fs::exists(folder / "history.db-wal")) << "who closes it last takes the log away";
    fs::permissions(folder / "history.db", fs::perms(0444));
    fs::permissions(folder / ".", fs::perms(0555));
    const pid_t child = fork();
    if (child == 0) {
        const bool ordinary = geteuid() != 0 || setresuid(65534, 65534, 65534) == 0;
        const auto reader = HistoryStore::open(folder / "history.db", StoreMode::read_only);
        if (!reader)
            std::fprintf(stderr, "%s\n", reader.error().line().c_str());
        _exit(ordinary && reader && reader->list().has_value() ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    fs::permissions(folder / ".", fs::perms(0755));
    EXPECT_EQ(status, 0);
}

// To open a pipe is to wait for who writes into it.
TEST(Schema, WhatIsNoFileIsNotOpened)
{
    for (const std::string suffix : {"", "-wal", "-shm", "-journal"}) {
        const TemporaryFolder folder;
        if (!suffix.empty())
            must(HistoryStore::open(folder / "history.db"));
        const fs::path pipe = folder / ("history.db" + suffix);
        fs::remove(pipe);
        ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
        for (const StoreMode mode : {StoreMode::read_only, StoreMode::read_write}) {
            const auto store = HistoryStore::open(folder / "history.db", mode);
            ASSERT_FALSE(store) << suffix;
            EXPECT_EQ(store.error().line().find(pipe.string() + ": "), 0u) << store.error().line();
            EXPECT_NE(store.error().line().find("is not a regular file"), std::string::npos);
        }
    }
}

} // namespace
} // namespace fourfold
