// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"

#include "core/base/file_kind.h"
#include "core/base/input_file.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace fourfold {

namespace {
constexpr std::size_t kMaxDepth = 64;

// "line 3, column 7" of the byte at `offset`; columns count bytes from 1.
std::string position(std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n');
    const std::size_t column = start == std::string_view::npos ? before.size() + 1 : before.size() - start;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// Input iterator that tells how far the parser has read: SAX events carry no position of their own.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, std::size_t* read)
        : at_(at)
        , read_(read)
    {
    }
    reference operator*() const { return *at_; }
    CountingIterator& operator++()
    {
        ++at_;
        ++*read_;
        return *this;
    }
    CountingIterator operator++(int)
    {
        const CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

private:
    const char* at_;
    std::size_t* read_;
};

// Builds the value; refuses deep nesting and duplicate keys.
class Builder : public nlohmann::json_sax<Json> {
public:
    Builder(std::string_view text, const std::size_t& read)
        : text_(text)
        , read_(read)
    {
    }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return fail("binary values are not JSON"); }
    bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
    bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
    bool end_object() override
    {
        many_keys_.pop_back();
        return close();
    }
    bool end_array() override { return close(); }
    bool key(string_t& name) override
    {
        if (!is_new(name))
            return fail("the key " + fourfold::in_quotes(name) + " appears twice in one object");
        pending_key_ = std::move(name);
        return true;
    }
    bool parse_error(
        std::size_t offset, const std::string& /*last_token*/, const nlohmann::detail::exception& error) override
    {
        // The library's text is "[json.exception...] parse error at line 1, column 2: syntax error ...".
        std::string what = error.what();
        if (const std::size_t bracket = what.find("] "); bracket != std::string::npos)
            what.erase(0, bracket + 2);
        if (const std::size_t colon = what.find(": "); what.starts_with("parse error at") && colon != what.npos)
            what.erase(0, colon + 2);
        error_ = position(text_, offset == 0 ? 0 : offset - 1) + ": " + printable(what);
        return false;
    }

    [[nodiscard]] Json take() { return std::move(root_); }
    [[nodiscard]] const std::string& error() const { return error_; }

private:
    bool fail(const std::string& what)
    {
        error_ = position(text_, read_ == 0 ? 0 : read_ - 1) + ": " + what;
        return false;
    }
    // Whether the innermost object lacks the key. Few keys are compared one by one, which needs no memory.
    bool is_new(const std::string& name)
    {
        constexpr std::size_t kFew = 32;
        const auto& members = static_cast<const Json::object_t::Container&>(open_.back()->get_ref<Json::object_t&>());
        std::set<std::string>& many = many_keys_.back();
        if (members.size() < kFew)
            return std::none_of(members.begin(), members.end(), [&](const auto& one) { return one.first == name; });
        if (many.empty()) {
            for (const auto& [key, value] : members)
                many.insert(key);
        }
        return many.insert(name).second;
    }
    template <typename Value>
    bool add(Value&& value)
    {
        place(Json(std::forward<Value>(value)));
        return true;
    }
    Json* place(Json value)
    {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        Json& parent = *open_.back();
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        // Keys are known to be new here; operator[] would search all of them again for each.
        auto& members = static_cast<Json::object_t::Container&>(parent.get_ref<Json::object_t&>());
        return &members.emplace_back(std::move(pending_key_), std::move(value)).second;
    }
    bool open(Json empty)
    {
        if (open_.size() >= kMaxDepth)
            return fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
        if (empty.is_object())
            many_keys_.emplace_back();
        open_.push_back(place(std::move(empty)));
        return true;
    }
    bool close()
    {
        open_.pop_back();
        return true;
    }

    std::string_view text_;
    const std::size_t& read_;
    Json root_;
    std::vector<Json*> open_; // the containers around the current position; parents do not grow while open
    std::vector<std::set<std::string>> many_keys_; // of each open object: empty while it has few
    std::string pending_key_;
    std::string error_;
};
} // namespace

Expected<Json> parse_json(std::string_view text, const std::string& where)
{
    const auto problem = [&](const std::string& message) {
        return Problem{ProblemCode::bad_input, message, "", where};
    };
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return problem("is empty, expected JSON");
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        return Problem{ProblemCode::bad_input, "is in UTF-16, expected JSON in UTF-8", "save it as UTF-8", where};
    if (const std::string_view kind = other_kind_of(text); !kind.empty())
        return problem("is " + std::string(kind) + ", expected JSON");
    // The parser would take a NUL byte for the end and ignore what follows.
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
        return problem("not valid JSON: " + position(text, nul) + ": NUL byte");
    std::size_t read = 0;
    Builder builder(text, read);
    try {
        const CountingIterator first(text.data(), &read);
        const CountingIterator last(text.data() + text.size(), &read);
        if (!Json::sax_parse(first, last, &builder))
            return problem("not valid JSON: " + builder.error());
    } catch (const std::exception& error) {
        return problem("not valid JSON: " + printable(error.what()));
    }
    return builder.take();
}

Json number_or_null(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json number_or_null(const std::optional<double>& value)
{
    return value ? number_or_null(*value) : Json(nullptr);
}

Expected<Json> read_json_file(const std::filesystem::path& file, std::size_t max_bytes)
{
    FOURFOLD_TRY(const std::string text, read_text_file(file, max_bytes));
    return parse_json(text, printable(file.string(), 4096));
}

Expected<Json> read_json_input(const std::filesystem::path& file, std::size_t max_bytes)
{
    FOURFOLD_TRY(const std::string text, read_input(file, max_bytes));
    return parse_json(text, printable(file.string(), 4096));
}

} // namespace fourfold
