// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/input_file.h"
#include "core/base/text.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace fourfold {

namespace {
constexpr const char* kNotOpened = "cannot be opened"; // to be read

Problem io_problem(const std::filesystem::path& file, const std::string& what, int error)
{
    Problem problem{ProblemCode::io, what + ": " + std::strerror(error), "", printable(file.string(), 4096)};
    std::error_code ignored;
    switch (error) {
    case ENOENT:
        problem.code = ProblemCode::not_found;
        if (file.has_parent_path() && !std::filesystem::exists(file.parent_path(), ignored))
            problem.hint = what == kNotOpened ? "there is no such folder"
                                              : "there is no such folder: make it first, or choose another";
        break;
    case ENOSPC:
    case EDQUOT:
        problem.hint = "free some space and try again";
        break;
    case EFBIG:
        problem.hint = "the file size limit of this session is too small";
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        problem.hint = "choose another folder or change its permissions";
        break;
    default:
        break;
    }
    return problem;
}

int write_all(int fd, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

int sync_folder(const std::filesystem::path& folder)
{
    const FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0)
        return errno;
    // Some file systems do not sync folders (EINVAL); the rename itself has succeeded then.
    return ::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

// A new file beside the target; the umask decides its mode. `name` receives its path.
int create_beside(const std::filesystem::path& file, std::filesystem::path& name)
{
    static std::atomic<unsigned> counter{0};
    const std::string stem = file.filename().string().substr(0, 200);
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::string temporary(1, '.');
        temporary.append(stem).append(".").append(std::to_string(::getpid())).append(".");
        temporary.append(std::to_string(counter++)).append(".tmp");
        name = file.parent_path() / temporary;
        const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

// A link stays a link, also one to a file that is not there yet: what it names is written. Empty: links in a circle.
std::optional<std::filesystem::path> behind_links(std::filesystem::path file)
{
    constexpr int kMostLinks = 40; // as Linux follows
    std::error_code error;
    for (int links = 0; links < kMostLinks; ++links) {
        const std::filesystem::path named = std::filesystem::read_symlink(file, error);
        if (error)
            return file;
        file = named.is_absolute() ? named : file.parent_path() / named;
    }
    return std::nullopt;
}

// Devices and pipes (/dev/stdout, /dev/null) are written to, never replaced.
Expected<void> write_in_place(const std::filesystem::path& path, std::string_view text)
{
    const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd.get() < 0)
        return io_problem(path, "cannot be written", errno);
    if (const int error = write_all(fd.get(), text); error != 0)
        return io_problem(path, "cannot be written", error);
    return {};
}
} // namespace

std::string kind_of_file(mode_t mode)
{
    return S_ISREG(mode) ? ""
        : S_ISDIR(mode)  ? "a folder"
        : S_ISFIFO(mode) ? "a pipe"
        : S_ISSOCK(mode) ? "a socket"
        : S_ISLNK(mode)  ? "a link"
                         : "a device";
}

namespace {
Expected<void> other_kind(const std::filesystem::path& file, const std::string& kind)
{
    return Problem{ProblemCode::bad_input, "is " + kind + ", expected a file", "", printable(file.string(), 4096)};
}
} // namespace

Expected<void> check_regular(int fd, const std::filesystem::path& file)
{
    struct stat info {
    }, null{};
    if (::fstat(fd, &info) != 0)
        return io_problem(file, "cannot be looked at", errno);
    if (S_ISCHR(info.st_mode) && ::stat("/dev/null", &null) == 0 && info.st_rdev == null.st_rdev)
        return {};
    const std::string kind = kind_of_file(info.st_mode);
    return kind.empty() ? Expected<void>() : other_kind(file, kind);
}

Expected<FileDescriptor> open_regular(const std::filesystem::path& file)
{
    FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd.valid()) {
        const int error = errno;
        if (error == ENXIO) // all that can be said of a socket
            FOURFOLD_CHECK(other_kind(file, "a socket or a device without a driver"));
        return io_problem(file, kNotOpened, error);
    }
    FOURFOLD_CHECK(check_regular(fd.get(), file));
    return fd;
}

Expected<std::string> read_to_end(int fd, const std::filesystem::path& file, std::size_t max_bytes)
{
    std::string text;
    char block[1 << 16];
    for (;;) { // sizes of pipes and of /dev/stdin are unknown before the end
        const ssize_t got = ::read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return io_problem(file, "cannot be read", errno);
        if (got == 0)
            return text;
        if (text.size() + static_cast<std::size_t>(got) > max_bytes)
            return Problem{ProblemCode::bad_input, "is larger than " + std::to_string(max_bytes) + " bytes", "",
                printable(file.string(), 4096)};
        text.append(block, static_cast<std::size_t>(got));
    }
}

Expected<std::string> read_text_file(const std::filesystem::path& file, std::size_t max_bytes)
{
    FOURFOLD_TRY(const FileDescriptor fd, open_regular(file));
    return read_to_end(fd.get(), file, max_bytes);
}

Expected<std::string> read_input(const std::filesystem::path& file, std::size_t max_bytes)
{
    struct stat info { };
    if (::stat(file.c_str(), &info) == 0 && (S_ISDIR(info.st_mode) || S_ISBLK(info.st_mode) || S_ISSOCK(info.st_mode)))
        return read_text_file(file, max_bytes); // says what it is
    const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
    if (!fd.valid()) {
        const int error = errno;
        Problem problem = io_problem(file, kNotOpened, error);
        // Such a name cannot be used, whenever it is tried.
        if (error == ELOOP || error == ENAMETOOLONG || error == ENOTDIR)
            problem.code = ProblemCode::bad_input;
        return problem;
    }
    return read_to_end(fd.get(), file, max_bytes);
}

bool read_line(std::istream& in, std::string& line, std::size_t max_bytes, bool& whole)
{
    line.clear();
    whole = true;
    std::array<char, 1 << 14> part{};
    while (in.getline(part.data(), part.size()) || in.gcount() > 0) {
        const auto got = std::size_t(in.gcount());
        const bool more
            = in.fail(); // the line is longer than the part; else the count has its end, unless the file ends
        const std::size_t bytes = more || in.eof() ? got : got - 1;
        if (line.size() + bytes <= max_bytes)
            line.append(part.data(), bytes);
        else
            whole = false;
        if (more)
            in.clear();
        else if (!whole && !in.eof())
            in.unget(); // an empty rest
        if (!more || !whole)
            return true;
    }
    return !line.empty();
}

Expected<void> write_file_atomically(const std::filesystem::path& path, std::string_view text)
{
    struct stat before { };
    const bool exists = ::stat(path.c_str(), &before) == 0;
    if (exists && S_ISDIR(before.st_mode))
        return io_problem(path, "cannot be written", EISDIR);
    if (exists && !S_ISREG(before.st_mode))
        return write_in_place(path, text);
    const std::optional<std::filesystem::path> target = behind_links(path);
    if (!target)
        return io_problem(path, "cannot be written", ELOOP);
    const std::filesystem::path& file = *target;
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";

    std::filesystem::path temporary;
    FileDescriptor fd(create_beside(file, temporary));
    if (fd.get() < 0)
        return io_problem(path, "cannot be written", errno);
    int error = write_all(fd.get(), text);
    if (error == 0 && exists && ::fchmod(fd.get(), before.st_mode & 07777) != 0)
        error = errno;
    if (error == 0 && ::fsync(fd.get()) != 0)
        error = errno;
    if (::close(fd.release()) != 0 && error == 0)
        error = errno;
    if (error == 0 && ::rename(temporary.c_str(), file.c_str()) != 0)
        error = errno;
    if (error != 0) {
        ::unlink(temporary.c_str());
        return io_problem(path, "cannot be written", error);
    }
    if (const int late = sync_folder(folder); late != 0)
        return io_problem(path, "was written, but its folder could not be synchronised", late);
    return {};
}

Expected<void> make_folders(const std::filesystem::path& folder)
{
    std::filesystem::path at;
    std::error_code ignored;
    for (const std::filesystem::path& name : folder) {
        at /= name;
        if (::mkdir(at.c_str(), 0777) == 0)
            continue;
        const int error = errno; // of a folder that is there: EEXIST, but EROFS or EACCES where nothing can be made
        if (std::filesystem::is_directory(at, ignored))
            continue;
        Problem problem = io_problem(at, "this folder cannot be made", error);
        if (error == EEXIST)
            problem.message = "is not a folder", problem.hint = "move it away, or choose another folder";
        problem.code = ProblemCode::io;
        return problem;
    }
    return {};
}

} // namespace fourfold
