// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <tuple>
#include <vector>

namespace fourfold::trainer {

namespace {
constexpr std::size_t kMostHeaderBytes = 100u << 20;
constexpr int64_t kWindowBytes = 256 << 10;

int64_t element_bytes(const std::string& dtype)
{
    if (dtype == "F64")
        return 8;
    if (dtype == "F32")
        return 4;
    return dtype == "F16" || dtype == "BF16" ? 2 : 0;
}

Problem unusable(const std::string& file, const std::string& what)
{
    return {ProblemCode::bad_input, what, "give a safetensors file", file};
}

// Other numbers would be rounded to whole ones, or wrap around.
bool has_whole_numbers(const Json& entry, const char* key)
{
    const auto is_whole = [](const Json& number) {
        return number.is_number_integer()
            && !(number.is_number_unsigned() && number.get<uint64_t>() > uint64_t(INT64_MAX));
    };
    return entry.is_object() && entry.contains(key) && entry[key].is_array()
        && std::all_of(entry[key].begin(), entry[key].end(), is_whole);
}

template <typename T>
T load(const unsigned char* bytes)
{
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

// IEEE 754 binary16.
double half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = 0;
    if (exponent == 31)
        magnitude = fraction ? NAN : INFINITY;
    else
        magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}
} // namespace

int64_t StoredTensor::elements() const
{
    int64_t count = 1;
    for (const int64_t extent : shape)
        count *= extent;
    return count;
}

int64_t StoredTensor::bytes() const
{
    return elements() * element_bytes(dtype);
}

Expected<std::shared_ptr<const SafetensorsReader>> SafetensorsReader::open(const std::filesystem::path& file)
{
    std::shared_ptr<SafetensorsReader> reader(new SafetensorsReader);
    reader->path_ = file.string();
    FOURFOLD_TRY(reader->file_, DataFile::open(file));
    FOURFOLD_CHECK(reader->read_header());
    return std::shared_ptr<const SafetensorsReader>(std::move(reader));
}

Expected<void> SafetensorsReader::read_header()
{
    uint64_t length = 0;
    if (file_->size() < int64_t(sizeof length))
        return unusable(path_, "too short for a header");
    const auto after_length = uint64_t(file_->size()) - sizeof length;
    FOURFOLD_CHECK(file_->read(0, sizeof length, &length));
    if (length > kMostHeaderBytes || length > after_length)
        return unusable(path_, "its header is longer than the file");
    std::string text(std::size_t(length), '\0');
    FOURFOLD_CHECK(file_->read(sizeof length, text.size(), text.data()));
    const auto tensors_begin = int64_t(sizeof length + length);
    std::vector<std::tuple<int64_t, int64_t, std::string>> places; // begin, end, name
    FOURFOLD_TRY(const Json header, parse_json(text, path_ + " (header)"));
    if (!header.is_object())
        return unusable(path_, "its header is no JSON object");
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__")
            continue;
        if (!has_whole_numbers(entry, "shape") || !has_whole_numbers(entry, "data_offsets"))
            return unusable(path_, "the header's entry \"" + name + "\" lacks dtype, shape or data_offsets");
        StoredTensor tensor{name, "", {}};
        int64_t begin = 0, end = 0;
        try {
            tensor.dtype = entry.at("dtype").get<std::string>();
            tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
            begin = entry.at("data_offsets").at(0).get<int64_t>();
            end = entry.at("data_offsets").at(1).get<int64_t>();
        } catch (const Json::exception&) {
            return unusable(path_, "the header's entry \"" + name + "\" lacks dtype, shape or data_offsets");
        }
        const int64_t room = file_->size() - tensors_begin;
        bool fits = begin >= 0 && end >= begin && end <= room;
        int64_t elements = 1;
        for (const int64_t extent : tensor.shape) {
            fits = fits && extent >= 0 && (extent == 0 || elements <= room / extent);
            elements = fits ? elements * extent : 0;
        }
        if (!fits || (element_bytes(tensor.dtype) > 0 && end - begin != elements * element_bytes(tensor.dtype)))
            return unusable(
                path_, "the bytes of \"" + name + "\" do not fit its shape: the file is cut short or damaged");
        offsets_[name] = tensors_begin + begin;
        tensors_.emplace(name, std::move(tensor));
        if (end > begin)
            places.emplace_back(begin, end, name);
    }
    std::ranges::sort(places);
    for (std::size_t i = 1; i < places.size(); ++i)
        if (const auto& [begin, end, name] = places[i]; begin < std::get<1>(places[i - 1]))
            return unusable(path_,
                "\"" + std::get<2>(places[i - 1]) + "\" and \"" + name
                    + "\" share bytes: one of them would have the other's values");
    return {};
}

Expected<void> SafetensorsReader::read(
    const StoredTensor& tensor, int64_t first, int64_t stride, int64_t count, double* out) const
{
    if (count == 0)
        return {};
    const int64_t size = element_bytes(tensor.dtype), begin = offsets_.at(tensor.name);
    const int64_t wanted = begin + first * size, wanted_end = wanted + ((count - 1) * stride + 1) * size;
    if (wanted < window_begin_ || wanted_end > window_begin_ + int64_t(window_.size())) {
        // Columns of a tensor are scattered over all of it; rows come one after the other.
        const int64_t end = begin + tensor.bytes();
        window_begin_ = stride > 1 ? begin : wanted;
        const int64_t window_end = stride > 1 ? end : std::min(end, std::max(wanted_end, wanted + kWindowBytes));
        window_.resize(std::size_t(window_end - window_begin_));
        if (auto read = file_->read(window_begin_, window_.size(), window_.data()); !read) {
            window_.clear();
            return read;
        }
    }
    const unsigned char* next = window_.data() + (wanted - window_begin_);
    const auto each = [&](auto&& value) {
        for (int64_t i = 0; i < count; ++i, next += stride * size)
            out[i] = value(next);
    };
    if (tensor.dtype == "F64")
        each(load<double>);
    else if (tensor.dtype == "F32")
        each(load<float>);
    else if (tensor.dtype == "F16")
        each([](const unsigned char* bytes) { return half_value(load<uint16_t>(bytes)); });
    else
        each([](const unsigned char* bytes) { return std::bit_cast<float>(uint32_t(load<uint16_t>(bytes)) << 16); });
    return {};
}

Expected<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::create(
    const std::filesystem::path& file, const std::vector<StoredTensor>& tensors, const Json& metadata)
{
    std::unique_ptr<SafetensorsWriter> writer(new SafetensorsWriter);
    writer->path_ = file.string();
    Json header = Json::object();
    if (!metadata.empty())
        header["__metadata__"] = metadata;
    for (const StoredTensor& tensor : tensors) {
        const int64_t end = writer->expected_ + tensor.bytes();
        header[tensor.name]
            = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {writer->expected_, end}}};
        writer->expected_ = end;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' '); // the tensors begin aligned
    const uint64_t length = text.size();
    FOURFOLD_TRY(writer->file_, NewFile::create(file, int64_t(sizeof length + length) + writer->expected_));
    FOURFOLD_CHECK(writer->append(&length, sizeof length));
    FOURFOLD_CHECK(writer->append(text.data(), text.size()));
    writer->written_ = 0;
    return writer;
}

Expected<void> SafetensorsWriter::append(const void* bytes, std::size_t count)
{
    constexpr std::size_t kAtOnce = 256 << 10; // read from memory once for both
    const char* next = static_cast<const char*>(bytes);
    while (count > 0) {
        const std::size_t now = std::min(count, kAtOnce);
        summer_.append(next, now);
        FOURFOLD_CHECK(file_->append(next, now));
        next += now;
        count -= now;
        written_ += int64_t(now);
    }
    return {};
}

Expected<void> SafetensorsWriter::finish()
{
    if (written_ != expected_)
        return Problem{ProblemCode::failed,
            "got " + std::to_string(written_) + " bytes of tensors, expected " + std::to_string(expected_), "", path_};
    return file_->finish();
}

} // namespace fourfold::trainer
