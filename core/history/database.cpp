// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/database.h"

#include "core/base/paths.h"
#include "core/history/migrations.h"
#include "core/history/rows.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <sqlite3.h>

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace fourfold::history {

namespace {

namespace fs = std::filesystem;

Problem damaged(const fs::path& file, const std::string& detail)
{
    return {ProblemCode::io, "the history is damaged: " + detail,
        "move the file away to start a new one; every run's own events are kept in runs/<id>/events.jsonl",
        file.string()};
}

Problem not_writable(const fs::path& file, const std::string& why)
{
    return {ProblemCode::io, "cannot open the history for writing: " + why,
        "set XDG_DATA_HOME to a folder that you can write", file.string()};
}

// The history itself, and what SQLite keeps beside it.
std::vector<fs::path> parts_of(const fs::path& file)
{
    std::vector<fs::path> parts;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
        parts.emplace_back(file.string() + suffix);
    return parts;
}

// What stands in the way where SQLite says no more than that it could not open, read or write; empty where nothing is
// seen. Looked at afterwards: SQLite keeps the system's error to itself.
Problem obstacle(const fs::path& file)
{
    const std::string where = file.string();
    std::error_code error;
    for (const fs::path& part : parts_of(file)) {
        if (fs::is_directory(part, error))
            return {ProblemCode::io, "a folder lies where the history's file should", "move it away", part.string()};
    }
    constexpr std::size_t kLongest = 500; // SQLite's 512, less what it puts behind the name
    if (where.size() > kLongest)
        return {ProblemCode::io,
            "a history's path has at most " + std::to_string(kLongest) + " bytes, this one "
                + std::to_string(where.size()),
            "set XDG_DATA_HOME to a shorter one", where};
    if (fs::is_symlink(file, error) && !fs::exists(file, error))
        return {ProblemCode::io, "the history is a link that leads nowhere", "mend or remove it", where};
    struct rlimit limit { };
    constexpr std::uintmax_t kRoom = 256u << 10; // bytes that one transaction may take
    std::uintmax_t bytes = fs::file_size(file, error);
    if (error)
        bytes = 0;
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes + kRoom > limit.rlim_cur)
        return {ProblemCode::io,
            "files of this session may have no more than " + std::to_string(limit.rlim_cur) + " bytes",
            "raise the limit, as with `ulimit -f unlimited`", where};
    struct statvfs disk { };
    if (::statvfs(file.parent_path().empty() ? "." : file.parent_path().c_str(), &disk) == 0) {
        if (disk.f_bavail * disk.f_frsize < kRoom)
            return {
                ProblemCode::io, "no space left on the disk of the history", "free some space and try again", where};
        if (disk.f_files > 0 && disk.f_favail == 0)
            return {
                ProblemCode::io, "the disk of the history has room for no further file", "remove files there", where};
    }
    return {};
}

// WAL keeps an index in shared memory, which machines that share a network file system do not share.
bool on_network_file_system(const fs::path& file)
{
    struct statfs info { };
    if (::statfs(file.parent_path().empty() ? "." : file.parent_path().c_str(), &info) != 0)
        return false;
    switch (static_cast<unsigned long>(info.f_type) & 0xffffffffUL) {
    case 0x6969UL: // NFS
    case 0x517bUL: // SMB
    case 0xfe534d42UL: // SMB2
    case 0xff534d42UL: // CIFS
    case 0x0bd00bd0UL: // Lustre
    case 0x47504653UL: // GPFS
    case 0x5346414fUL: // AFS
    case 0x01021997UL: // 9P
    case 0x65735546UL: // FUSE, often sshfs
        return true;
    default:
        return false;
    }
}

int64_t number(SQLite::Database& database, const char* query)
{
    return database.execAndGet(query).getInt64();
}

std::string uri_of(const fs::path& file, const std::string& query)
{
    static constexpr char kHex[] = "0123456789abcdef";
    std::string uri = "file:";
    for (const unsigned char c : fs::absolute(file).string()) {
        if (std::isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_')
            uri += static_cast<char>(c);
        else
            uri += {'%', kHex[c >> 4], kHex[c & 15]};
    }
    return uri + "?" + query;
}

// Switching to WAL needs the file for itself for a moment and does not wait by the busy timeout.
void use_write_ahead_log(SQLite::Database& database)
{
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
    while (true) {
        try {
            database.execAndGet("PRAGMA journal_mode = WAL");
            return;
        } catch (const SQLite::Exception& exception) {
            if (exception.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline)
                throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

// Two programs that fill one empty file disturb each other in SQLite, and a program killed meanwhile would leave a
// part: a new history is made under a name of its own and appears complete. The first of several wins.
Expected<void> create_complete(const fs::path& file)
{
    std::string fresh = file.string() + ".new-XXXXXX";
    const int descriptor = ::mkstemp(fresh.data()); // for the user alone: runs' environment variables are private
    if (descriptor < 0)
        return not_writable(file, std::generic_category().message(errno));
    ::close(descriptor);
    std::error_code error;
    const auto clean = [&](const char* suffix) { fs::remove(fresh + suffix, error); };
    try {
        SQLite::Database database(fresh, SQLite::OPEN_READWRITE, kBusyTimeoutMs);
        if (!on_network_file_system(file))
            use_write_ahead_log(database);
        migrate(database, fresh);
    } catch (...) {
        for (const char* suffix : {"", "-wal", "-shm", "-journal"})
            clean(suffix);
        throw;
    }
    // The connection is closed: its log went into the file. rename() would replace another program's new history.
    const bool linked = ::link(fresh.c_str(), file.c_str()) == 0;
    const int why = errno;
    if (!linked && why != EEXIST) {
        fs::rename(fresh, file, error); // a file system without links
        if (error) {
            clean("");
            return not_writable(file, std::generic_category().message(why));
        }
        return {};
    }
    clean("");
    return {};
}

// Never opens the file by other means than SQLite's: closing a descriptor of it would drop the locks that another
// connection of this process holds (POSIX locks belong to the process and the file).
Expected<SQLite::Database> open_for_writing(const fs::path& file)
{
    std::error_code error;
    if (!file.parent_path().empty())
        error = make_private_folders(file.parent_path());
    if (error)
        return not_writable(
            file, error == std::errc::file_exists ? "a file lies where its folder should" : error.message());
    if (!fs::exists(file, error))
        FOURFOLD_CHECK(create_complete(file));
    try {
        SQLite::Database database(file, SQLite::OPEN_READWRITE, kBusyTimeoutMs);
        if (sqlite3_db_readonly(database.getHandle(), "main") != 0)
            return not_writable(file, "the file is read-only");
        return database;
    } catch (const SQLite::Exception& exception) {
        if ((exception.getErrorCode() & 0xff) != SQLITE_CANTOPEN || !obstacle(file).message.empty())
            throw;
        return not_writable(file, exception.what());
    }
}

// A whole look reads every page. Of a large history only the tables that a list needs are looked at: the events of
// thousands of runs would take longer than anybody waits for a window.
Expected<void> check_health(SQLite::Database& database, const fs::path& file)
{
    constexpr int64_t kSmall = int64_t{64} << 20; // bytes
    const int64_t bytes = number(database, "PRAGMA page_count") * number(database, "PRAGMA page_size");
    const std::vector<std::string> looks = bytes <= kSmall
        ? std::vector<std::string>{"PRAGMA quick_check(1)"}
        : std::vector<std::string>{"PRAGMA quick_check(runs)", "PRAGMA quick_check(plans)"};
    for (const std::string& look : looks) {
        const std::string verdict = database.execAndGet(look).getString();
        if (verdict != "ok")
            return damaged(file, verdict);
    }
    return {};
}

// Whose file it is, and whether this program may touch it.
Expected<void> check_identity(SQLite::Database& database, const fs::path& file, StoreMode mode)
{
    // One view of the three: another program may be making or migrating the file.
    SQLite::Transaction one_view(database);
    const int64_t application = number(database, "PRAGMA application_id");
    const int64_t schema = number(database, "PRAGMA user_version");
    const int64_t objects = number(database, "SELECT count(*) FROM sqlite_master");
    const bool empty = application == 0 && schema == 0 && objects == 0;
    if (!empty && application != kApplicationId)
        return Problem{ProblemCode::unsupported, "this is an SQLite file of another program",
            "name another file or move it away", file.string()};
    if (schema < 0 || (schema == 0 && !empty))
        return damaged(file, "its schema is " + std::to_string(schema));
    if (mode == StoreMode::read_only && schema < current_schema())
        return Problem{ProblemCode::unsupported,
            "the history has schema " + std::to_string(schema) + ", this program reads schema "
                + std::to_string(current_schema()),
            "open it once for writing, which migrates it", file.string()};
    if (schema > current_schema() && (mode == StoreMode::read_write || !readable(database)))
        return Problem{ProblemCode::unsupported,
            "the history was written by a newer Fourfold (schema " + std::to_string(schema) + ", this program knows "
                + std::to_string(current_schema()) + ")",
            "install the newer version, or set XDG_DATA_HOME to use another history", file.string()};
    if (schema == current_schema() && !readable(database))
        return damaged(file, "tables or columns are missing");
    return check_health(database, file);
}

Expected<SQLite::Database> open_read_only(const fs::path& file)
{
    std::error_code error;
    if (!fs::exists(file, error) && error)
        return Problem{ProblemCode::io, "cannot open the history: " + error.message(),
            "check the permissions of the file and its folder", file.string()};
    if (!fs::exists(file, error))
        return Problem{ProblemCode::not_found, "there is no history yet", "run a plan first", file.string()};
    SQLite::Database database(file, SQLite::OPEN_READONLY, kBusyTimeoutMs);
    try {
        number(database, "PRAGMA application_id");
        number(database, "SELECT count(*) FROM sqlite_master");
    } catch (const SQLite::Exception& exception) {
        // A program that was killed while it wrote left a journal: who reads takes it back first.
        const bool no_place_to_write = exception.getErrorCode() == SQLITE_CANTOPEN
            || exception.getExtendedErrorCode() == SQLITE_IOERR_SHMSIZE
            || exception.getExtendedErrorCode() == SQLITE_READONLY_DIRECTORY;
        if ((exception.getErrorCode() & 0xff) == SQLITE_READONLY && !no_place_to_write) {
            database = SQLite::Database(file, SQLite::OPEN_READWRITE, kBusyTimeoutMs);
            FOURFOLD_CHECK(check_identity(database, file, StoreMode::read_only));
            return database;
        }
        // In a folder without write permission, and on a full disk, the WAL's index cannot be made. Without a log the
        // file itself is complete, and nobody can be writing it.
        const fs::path log = file.string() + "-wal";
        const bool log_empty = !fs::exists(log, error) || fs::file_size(log, error) == 0;
        if (!no_place_to_write || !log_empty)
            throw;
        database = SQLite::Database(uri_of(file, "immutable=1"), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    }
    FOURFOLD_CHECK(check_identity(database, file, StoreMode::read_only));
    return database;
}

} // namespace

Problem problem_from(const SQLite::Exception& exception, const std::filesystem::path& file)
{
    const std::string where = file.string();
    switch (exception.getErrorCode() & 0xff) {
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        if (Problem seen = obstacle(file); !seen.message.empty())
            return seen;
        break;
    default:
        break;
    }
    switch (exception.getErrorCode() & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return {ProblemCode::refused, "another program has been writing the history for more than 5 s",
            "close the other Fourfold or try again", where};
    case SQLITE_FULL:
        return {ProblemCode::io, "no space left on the disk of the history", "free some space and try again", where};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return damaged(file, exception.what());
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return {ProblemCode::io, std::string("cannot open the history: ") + exception.what(),
            "check the permissions of the file and its folder", where};
    case SQLITE_IOERR:
        return {ProblemCode::io,
            std::string("cannot read or write the history: ") + exception.what() + " (code "
                + std::to_string(exception.getExtendedErrorCode()) + ")",
            "check the disk and its free space", where};
    case SQLITE_TOOBIG:
        return {ProblemCode::bad_input, "a value is too large for the history", "", where};
    default:
        return {ProblemCode::failed, std::string("the history refused: ") + exception.what(), "", where};
    }
}

Expected<SQLite::Database> open_database(const std::filesystem::path& file, StoreMode mode)
{
    return guarded(file, [&]() -> Expected<SQLite::Database> {
        for (const fs::path& part : parts_of(file)) {
            std::error_code error;
            const fs::file_status there = fs::status(part, error);
            if (fs::is_fifo(there) || fs::is_socket(there) || fs::is_character_file(there)) // to open it may be to wait
                return Problem{ProblemCode::io,
                    (part == file ? "the history" : "what SQLite keeps beside the history")
                        + std::string(" is not a regular file"),
                    "move away what is in its place", part.string()};
        }
        if (mode == StoreMode::read_only)
            return open_read_only(file);
        FOURFOLD_TRY(SQLite::Database database, open_for_writing(file));
        FOURFOLD_CHECK(check_identity(database, file, mode));
        if (!on_network_file_system(file))
            use_write_ahead_log(database);
        database.exec("PRAGMA foreign_keys = ON");
        try {
            migrate(database, file);
        } catch (const SQLite::Exception& exception) { // its tables are not those of the schema that it names
            if ((exception.getErrorCode() & 0xff) != SQLITE_ERROR)
                throw;
            return damaged(file, exception.what());
        }
        return database;
    });
}

WriteTransaction::WriteTransaction(SQLite::Database& database, Durability durability)
    : database_(database)
{
    database_.exec(durability == Durability::flush ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    database_.exec("BEGIN IMMEDIATE");
}

WriteTransaction::~WriteTransaction()
{
    if (open_)
        database_.tryExec("ROLLBACK");
}

void WriteTransaction::commit()
{
    database_.exec("COMMIT");
    open_ = false;
}

} // namespace fourfold::history
