// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data/token_file.h"

#include <cerrno>
#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fourfold::trainer {

namespace {
int bytes_of(TokenType type)
{
    return type == TokenType::uint8 ? 1 : type == TokenType::uint16 ? 2 : 4;
}

Expected<TokenType> type_of(const DataSource& source, const std::string& where)
{
    const std::string dtype = !source.dtype.empty() ? source.dtype : source.path.ends_with(".txt") ? "uint8" : "uint16";
    if (dtype == "uint8")
        return TokenType::uint8;
    if (dtype == "uint16")
        return TokenType::uint16;
    if (dtype == "uint32")
        return TokenType::uint32;
    return Problem{ProblemCode::bad_input, "unknown token type \"" + dtype + "\"", "use uint8, uint16 or uint32",
        where + ".dtype"};
}
} // namespace

Expected<std::shared_ptr<const TokenFile>> TokenFile::open(const DataSource& source, const std::string& where)
{
    std::shared_ptr<TokenFile> file(new TokenFile);
    file->path_ = source.path;
    FOURFOLD_TRY(file->type_, type_of(source, where));
    if (!(source.begin >= 0 && source.begin < source.end && source.end <= 1))
        return Problem{ProblemCode::bad_input, "the range must satisfy 0 <= begin < end <= 1", "", where};

    const int descriptor = ::open(source.path.c_str(), O_RDONLY | O_CLOEXEC);
    const auto failed = [&](const std::string& what) {
        const int error = errno;
        if (descriptor >= 0)
            ::close(descriptor);
        return Problem{error == ENOENT ? ProblemCode::not_found : ProblemCode::bad_input,
            what + ": " + std::strerror(error), "give an existing token file", where + " " + source.path};
    };
    struct stat status { };
    if (descriptor < 0)
        return failed("cannot open the token file");
    if (::fstat(descriptor, &status) != 0)
        return failed("cannot read the token file's size");
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return failed("not a regular file");
    }
    const int bytes = bytes_of(file->type_);
    if (status.st_size == 0 || status.st_size % bytes != 0) {
        ::close(descriptor);
        return Problem{ProblemCode::bad_input,
            std::to_string(status.st_size) + " bytes are not a whole, positive number of " + std::to_string(bytes)
                + "-byte tokens",
            "check dtype", where + " " + source.path};
    }
    file->mapped_bytes_ = static_cast<std::size_t>(status.st_size);
    void* mapping = ::mmap(nullptr, file->mapped_bytes_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapping == MAP_FAILED)
        return failed("cannot map the token file");
    ::close(descriptor);
    file->mapping_ = static_cast<const unsigned char*>(mapping);

    const int64_t total = status.st_size / bytes;
    file->first_ = static_cast<int64_t>(std::floor(source.begin * double(total)));
    file->count_ = static_cast<int64_t>(std::floor(source.end * double(total))) - file->first_;
    return std::shared_ptr<const TokenFile>(std::move(file));
}

TokenFile::~TokenFile()
{
    if (mapping_)
        ::munmap(const_cast<unsigned char*>(mapping_), mapped_bytes_);
}

int64_t TokenFile::operator[](int64_t index) const
{
    const auto at = static_cast<std::size_t>(first_ + index);
    switch (type_) {
    case TokenType::uint8:
        return mapping_[at];
    case TokenType::uint16:
        return mapping_[2 * at] | mapping_[2 * at + 1] << 8;
    case TokenType::uint32:
        break;
    }
    const unsigned char* p = mapping_ + 4 * at;
    return int64_t(p[0]) | int64_t(p[1]) << 8 | int64_t(p[2]) << 16 | int64_t(p[3]) << 24;
}

} // namespace fourfold::trainer
