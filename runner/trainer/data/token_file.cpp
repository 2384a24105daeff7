// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data/token_file.h"

#include <cmath>

namespace fourfold::trainer {

Expected<std::shared_ptr<const TokenFile>> TokenFile::open(const DataSource& source, const std::string& where)
{
    std::shared_ptr<TokenFile> file(new TokenFile);
    file->path_ = source.path;
    FOURFOLD_TRY(file->store_, open_tokens(source, where));
    if (!(source.begin >= 0 && source.begin < source.end && source.end <= 1))
        return Problem{ProblemCode::bad_input, "the range must satisfy 0 <= begin < end <= 1", "", where};
    const auto total = double(file->store_.layout.tokens);
    file->first_ = static_cast<int64_t>(std::floor(source.begin * total));
    file->count_ = static_cast<int64_t>(std::floor(source.end * total)) - file->first_;
    return std::shared_ptr<const TokenFile>(std::move(file));
}

Expected<void> TokenFile::read(int64_t first, int64_t count, int64_t* out) const
{
    return store_.read(first_ + first, count, out);
}

Expected<std::vector<int64_t>> TokenFile::document_begins(int64_t first, int64_t last) const
{
    FOURFOLD_TRY(auto begins, store_.index->document_begins(first_ + first, first_ + last));
    for (int64_t& begin : begins)
        begin -= first_;
    return begins;
}

} // namespace fourfold::trainer
