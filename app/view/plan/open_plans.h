// SPDX-License-Identifier: GPL-3.0-or-later
// The open plans in the order of their tabs, one of them current; there is always at least one.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace fourfold::view {

// `Document`: a plan being edited, with file().
template <typename Document>
class OpenPlans {
public:
    explicit OpenPlans(std::unique_ptr<Document> first) { documents_.push_back(std::move(first)); }

    [[nodiscard]] int count() const { return static_cast<int>(documents_.size()); }
    [[nodiscard]] Document& at(int index) const { return *documents_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] int current_index() const { return current_; }
    [[nodiscard]] Document& current() const { return at(current_); }
    [[nodiscard]] bool has(const Document* document) const // which may be gone: only its place is looked at
    {
        return index_where([document](const Document& held) { return &held == document; }) >= 0;
    }
    [[nodiscard]] int index_of(const Document& document) const // -1: not here
    {
        return index_where([&document](const Document& held) { return &held == &document; });
    }
    [[nodiscard]] int index_of(const std::filesystem::path& file) const // -1: not open
    {
        return index_where([&file](const Document& held) {
            std::error_code error;
            return !held.file().empty() && std::filesystem::equivalent(held.file(), file, error);
        });
    }

    // Behind the current one, which stays current; the index of the new one.
    int insert(std::unique_ptr<Document> document)
    {
        documents_.insert(documents_.begin() + current_ + 1, std::move(document));
        return current_ + 1;
    }
    // Whether another one is current now.
    bool set_current(int index)
    {
        if (index == current_ || index < 0 || index >= count())
            return false;
        current_ = index;
        return true;
    }
    bool move(int from, int to)
    {
        if (from == to || from < 0 || to < 0 || from >= count() || to >= count())
            return false;
        const Document& held = current();
        auto document = std::move(documents_[static_cast<std::size_t>(from)]);
        documents_.erase(documents_.begin() + from);
        documents_.insert(documents_.begin() + to, std::move(document));
        current_ = index_of(held);
        return true;
    }
    // Which one is current when this one goes, as they are numbered before.
    [[nodiscard]] int heir(int index) const
    {
        return index != current_ ? current_ : index + 1 < count() ? index + 1 : index - 1;
    }
    // Takes one out, not the only one; heir() is current then.
    std::unique_ptr<Document> take(int index)
    {
        current_ = heir(index);
        std::unique_ptr<Document> gone = std::move(documents_[static_cast<std::size_t>(index)]);
        documents_.erase(documents_.begin() + index);
        if (current_ > index)
            --current_;
        return gone;
    }

private:
    template <typename Is>
    [[nodiscard]] int index_where(const Is& is) const
    {
        const auto found = std::ranges::find_if(documents_, [&is](const auto& held) { return is(*held); });
        return found == documents_.end() ? -1 : static_cast<int>(found - documents_.begin());
    }

    std::vector<std::unique_ptr<Document>> documents_;
    int current_ = 0;
};

} // namespace fourfold::view
