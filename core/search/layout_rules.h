// SPDX-License-Identifier: GPL-3.0-or-later
// Which rule of core/plan/check_rules.h a layout of a search breaks first, without a message.
#pragma once

#include "core/plan/plan.h"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fourfold {

// Remembers what each rule said of the few fields that it reads, as neighbours in a search share most of them. Codes
// are as check() gives them, empty where a layout keeps the rules; they live as long as this object.
class LayoutRules {
public:
    // `base`: what the search does not vary.
    explicit LayoutRules(const ResolvedPlan& base);
    // The degrees, stages, schedule or sharding have changed.
    void set_layout(const ResolvedPlan& plan);
    // Of the layout set last, whose batch and recomputation may since have changed.
    std::string_view broken(const ResolvedPlan& plan);

private:
    std::string_view kept(const std::string& code) { return *codes_.insert(code).first; }
    using Key = std::array<int, 4>; // a rule and the fields that it reads
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    template <typename Rule>
    std::string_view remembered(const Key& key, const ResolvedPlan& plan, Rule&& rule);

    bool whole_check_ = false; // rules of the base plan read more than the fields above
    std::set<std::string> codes_;
    std::unordered_map<Key, std::string_view, Hash> known_;
    std::string_view before_batch_, after_batch_; // rules on either side of those of the batch
};

} // namespace fourfold
