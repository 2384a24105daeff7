// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dataset/array_heads.h"

#include "core/base/json.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace fourfold {

namespace {
constexpr std::int64_t kMostHead = 100 << 20; // as the safetensors library allows

// Integers of whole bytes; 0 for what is no such type.
struct Stored {
    int bytes = 0;
    bool has_sign = false;
};

std::uint64_t little_endian(const char* bytes, int count)
{
    std::uint64_t number = 0;
    for (int byte = count; byte-- > 0;)
        number = number << 8 | static_cast<unsigned char>(bytes[byte]);
    return number;
}

Expected<std::int64_t> product(const std::vector<std::int64_t>& shape, const std::string& where)
{
    std::int64_t elements = 1;
    for (const std::int64_t side : shape)
        if (side < 0 || __builtin_mul_overflow(elements, side, &elements))
            return Problem{ProblemCode::bad_input, "its shape is not that of an array", "", where};
    return elements;
}

// What stands behind "'key':" in the dictionary of an .npy file.
std::string_view behind(std::string_view head, std::string_view key)
{
    for (const char quote : {'\'', '"'}) {
        const std::string quoted = quote + std::string(key) + quote;
        if (const auto at = head.find(quoted); at != std::string_view::npos)
            if (const auto begin = head.find_first_not_of(" :", at + quoted.size()); begin != std::string_view::npos)
                return head.substr(begin);
    }
    return {};
}

Stored numpy_type(std::string_view descr)
{
    if (descr.size() < 5 || (descr[1] != '<' && descr[1] != '|') || (descr[2] != 'u' && descr[2] != 'i'))
        return {};
    const int bytes = descr[3] - '0';
    const bool known = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    return {known && descr[4] == descr[0] ? bytes : 0, descr[2] == 'i'};
}

// "(3, 4)", "(3,)": one or two sides; empty for anything else.
std::vector<std::int64_t> sides(std::string_view text)
{
    std::vector<std::int64_t> shape;
    if (text.empty() || text.front() != '(')
        return {};
    text = text.substr(1, text.find(')') == std::string_view::npos ? 0 : text.find(')') - 1);
    while (!text.empty()) {
        const std::string_view side = trimmed(text.substr(0, text.find(',')));
        if (!side.empty()) {
            if (side.size() > 18 || side.find_first_not_of("0123456789") != std::string_view::npos)
                return {};
            shape.push_back(std::stoll(std::string(side)));
        }
        text = text.find(',') == std::string_view::npos ? std::string_view() : text.substr(text.find(',') + 1);
    }
    return shape.size() <= 2 ? shape : std::vector<std::int64_t>();
}

Stored safetensors_type(const std::string& name)
{
    constexpr std::array kBits{std::pair{"8", 1}, std::pair{"16", 2}, std::pair{"32", 4}, std::pair{"64", 8}};
    for (const auto& [bits, bytes] : kBits)
        if (!name.empty() && name.substr(1) == bits && (name[0] == 'U' || name[0] == 'I'))
            return {bytes, name[0] == 'I'};
    return {};
}
} // namespace

Expected<TokenLayout> npy_layout(const DataFile& file, const std::string& where)
{
    constexpr std::string_view kMagic{"\x93NUMPY", 6};
    const auto bad = [&](const std::string& what) {
        return Problem{
            ProblemCode::bad_input, what, "expected a .npy file of token ids, as numpy.save writes one", where};
    };
    std::array<char, 12> front{};
    if (file.size() < std::int64_t(front.size()))
        return bad("is too short for a NumPy array");
    FOURFOLD_CHECK(file.read(0, front.size(), front.data()));
    const int version = front[6];
    if (std::string_view(front.data(), kMagic.size()) != kMagic || version < 1 || version > 3)
        return bad("is no NumPy array");
    const int length_bytes = version == 1 ? 2 : 4;
    const std::int64_t begin = 8 + length_bytes, length = std::int64_t(little_endian(front.data() + 8, length_bytes));
    if (length > kMostHead || begin + length > file.size())
        return bad("ends within its head");
    std::string head(std::size_t(length), '\0');
    FOURFOLD_CHECK(file.read(begin, head.size(), head.data()));

    const Stored type = numpy_type(behind(head, "descr"));
    if (type.bytes == 0)
        return bad("holds no little-endian integers");
    const std::vector<std::int64_t> shape = sides(behind(head, "shape"));
    if (shape.empty())
        return bad("has not one or two dimensions");
    if (shape.size() == 2 && behind(head, "fortran_order").starts_with("True"))
        return bad("is stored column after column");
    FOURFOLD_TRY(const std::int64_t tokens, product(shape, where));
    if (tokens > (file.size() - begin - length) / type.bytes)
        return bad("is torn: its head says " + std::to_string(tokens) + " ids");
    return TokenLayout{begin + length, tokens, type.bytes, type.has_sign};
}

Expected<TokenLayout> safetensors_layout(const DataFile& file, const std::string& where)
{
    const auto bad = [&](const std::string& what) {
        return Problem{ProblemCode::bad_input, what,
            "expected a safetensors file with integers named \"tokens\" or \"input_ids\", or one tensor alone", where};
    };
    std::array<char, 8> front{};
    if (file.size() < std::int64_t(front.size()))
        return bad("is too short for a safetensors file");
    FOURFOLD_CHECK(file.read(0, front.size(), front.data()));
    const std::uint64_t length = little_endian(front.data(), int(front.size()));
    if (length > std::uint64_t(kMostHead) || std::int64_t(length) > file.size() - 8)
        return bad("ends within its head");
    std::string text(std::size_t(length), '\0');
    FOURFOLD_CHECK(file.read(8, text.size(), text.data()));
    Json head = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!head.is_object())
        return bad("its head is no JSON object");
    head.erase("__metadata__");
    const std::string name = head.contains("tokens") ? "tokens"
        : head.contains("input_ids")                 ? "input_ids"
        : head.size() == 1                           ? head.begin().key()
                                                     : "";
    if (name.empty())
        return bad("it holds " + std::to_string(head.size()) + " tensors, none of that name");
    const Json& entry = head[name];
    const auto whole = [](const Json& list, std::size_t least, std::size_t most) {
        return list.is_array() && list.size() >= least && list.size() <= most
            && std::all_of(list.begin(), list.end(), [](const Json& n) {
                   return n.is_number_integer() && n.get<double>() >= 0 && n.get<double>() < 0x1p62;
               });
    };
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape")
        || !entry.contains("data_offsets") || !whole(entry["data_offsets"], 2, 2))
        return bad("the entry " + in_quotes(name) + " of its head is no tensor");
    const Stored type = safetensors_type(entry["dtype"].get<std::string>());
    if (type.bytes == 0)
        return bad("the tensor " + in_quotes(name) + " holds no integers");
    if (!whole(entry["shape"], 1, 2))
        return bad("the tensor " + in_quotes(name) + " has not one or two dimensions");
    FOURFOLD_TRY(const std::int64_t tokens, product(entry["shape"].get<std::vector<std::int64_t>>(), where));
    const auto range = entry["data_offsets"].get<std::vector<std::int64_t>>();
    const std::int64_t begin = 8 + std::int64_t(length) + range[0];
    if (range[1] < range[0] || tokens != (range[1] - range[0]) / type.bytes || begin > file.size()
        || tokens > (file.size() - begin) / type.bytes)
        return bad("is torn: its head says " + std::to_string(tokens) + " ids of " + in_quotes(name));
    return TokenLayout{begin, tokens, type.bytes, type.has_sign};
}

} // namespace fourfold
