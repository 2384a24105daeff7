// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/data_file.h"

#include "core/base/input_file.h"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace fourfold {

Expected<std::shared_ptr<const DataFile>> DataFile::open(
    const std::filesystem::path& file, const std::string& where, const std::string& hint)
{
    std::shared_ptr<DataFile> input(new DataFile);
    input->where_ = where.empty() ? file.string() : where;
    auto opened = open_regular(file);
    struct stat status { };
    if (!opened || ::fstat(opened->get(), &status) != 0) {
        const bool missing = !opened && opened.error().code == ProblemCode::not_found;
        const std::string cure = opened || opened.error().hint.empty() ? hint : opened.error().hint;
        return Problem{missing ? ProblemCode::not_found : ProblemCode::bad_input,
            opened ? "cannot be looked at" : opened.error().message, cure, input->where_};
    }
    input->descriptor_ = std::move(*opened);
    input->size_ = status.st_size;
    return std::shared_ptr<const DataFile>(std::move(input));
}

Expected<void> DataFile::read(int64_t offset, std::size_t bytes, void* out) const
{
    auto* next = static_cast<char*>(out);
    while (bytes > 0) {
        const ssize_t got = ::pread(descriptor_.get(), next, bytes, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return Problem{ProblemCode::io, std::string("cannot read it: ") + std::strerror(errno), "", where_};
        if (got == 0)
            return Problem{ProblemCode::io,
                "it became shorter while it was read: it had " + std::to_string(size_) + " bytes, now it ends before "
                    + std::to_string(offset + int64_t(bytes)),
                "put the whole file back and go on", where_};
        next += got;
        offset += got;
        bytes -= std::size_t(got);
    }
    return {};
}

} // namespace fourfold
