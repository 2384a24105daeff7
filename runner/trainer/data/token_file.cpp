// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data/token_file.h"

#include <cmath>
#include <vector>

namespace fourfold::trainer {

Expected<std::shared_ptr<const TokenFile>> TokenFile::open(const DataSource& source, const std::string& where)
{
    std::shared_ptr<TokenFile> file(new TokenFile);
    file->path_ = source.path;
    FOURFOLD_TRY(file->bytes_, token_bytes_of(source, where));
    if (!(source.begin >= 0 && source.begin < source.end && source.end <= 1))
        return Problem{ProblemCode::bad_input, "the range must satisfy 0 <= begin < end <= 1", "", where};

    FOURFOLD_TRY(file->file_, DataFile::open(source.path, where + " " + source.path, "give an existing token file"));
    const int bytes = int(file->bytes_);
    if (file->file_->size() == 0 || file->file_->size() % bytes != 0)
        return Problem{ProblemCode::bad_input,
            std::to_string(file->file_->size()) + " bytes are not a whole, positive number of " + std::to_string(bytes)
                + "-byte tokens",
            "check dtype", where + " " + source.path};
    const int64_t total = file->file_->size() / bytes;
    file->first_ = static_cast<int64_t>(std::floor(source.begin * double(total)));
    file->count_ = static_cast<int64_t>(std::floor(source.end * double(total))) - file->first_;
    return std::shared_ptr<const TokenFile>(std::move(file));
}

Expected<void> TokenFile::read(int64_t first, int64_t count, int64_t* out) const
{
    const int size = int(bytes_);
    std::vector<unsigned char> bytes(std::size_t(count * size));
    FOURFOLD_CHECK(file_->read((first_ + first) * size, bytes.size(), bytes.data()));
    for (int64_t i = 0; i < count; ++i) {
        int64_t token = 0;
        for (int byte = size; byte-- > 0;)
            token = token << 8 | bytes[std::size_t(i * size + byte)];
        out[i] = token;
    }
    return {};
}

} // namespace fourfold::trainer
