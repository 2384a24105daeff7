// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/host_file.h"

#include <cstring>

namespace fourfold::trainer {

namespace {
// From the table's order to the file's, an element of `size` bytes at a time.
std::vector<std::byte> reordered(const HostTensor& tensor, std::size_t size)
{
    const StoredLayout& layout = *tensor.layout;
    std::vector<std::byte> out(std::size_t(layout.rows() * layout.columns()) * size);
    const std::byte* next = tensor.data;
    for (int64_t row = 0; row < layout.rows(); ++row)
        for (int64_t column = 0; column < layout.columns(); ++column, next += size)
            std::memcpy(out.data() + std::size_t(layout.index(row, column)) * size, next, size);
    return out;
}

Expected<FileSums> write_tensors(const std::filesystem::path& path, const std::vector<HostTensor>& tensors)
{
    std::vector<StoredTensor> stored;
    for (const HostTensor& tensor : tensors)
        stored.push_back(tensor.stored);
    FOURFOLD_TRY(const auto writer, SafetensorsWriter::create(path, stored, {{"format", "pt"}}));
    for (const HostTensor& tensor : tensors) {
        const auto bytes = std::size_t(tensor.stored.bytes());
        if (tensor.layout && bytes > 0)
            FOURFOLD_CHECK(
                writer->append(reordered(tensor, bytes / std::size_t(tensor.stored.elements())).data(), bytes));
        else
            FOURFOLD_CHECK(writer->append(tensor.data, bytes));
    }
    FOURFOLD_CHECK(writer->finish());
    return writer->sums();
}
} // namespace

Expected<FileSums> HostFile::write(const std::filesystem::path& folder) const
{
    auto written = write_tensors(folder / name, tensors);
    std::error_code ignored;
    if (!written)
        std::filesystem::remove(folder / name, ignored); // its room is needed
    return written;
}

} // namespace fourfold::trainer
