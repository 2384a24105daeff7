// SPDX-License-Identifier: GPL-3.0-or-later
// Unigram language model (Kudo, arXiv:1804.10959): of all ways to cut a word into tokens the likeliest, by Viterbi's
// algorithm.
#include "core/tokenizer/byte_trie.h"
#include "core/tokenizer/model.h"
#include "core/tokenizer/unicode.h"

#include <algorithm>
#include <limits>

namespace fourfold {

namespace {
class UnigramModel : public TokenModel {
public:
    static Expected<ModelAndVocabulary> read(const Fields& fields)
    {
        auto model = std::make_unique<UnigramModel>();
        FOURFOLD_TRY(Vocabulary vocabulary, Vocabulary::read(fields));
        const Json& entries = fields.json()["vocab"];
        if (!entries.is_array())
            return fields.problem("vocab", "expected an array of tokens and their scores");
        double least = std::numeric_limits<double>::infinity();
        for (const Json& entry : entries) {
            model->scores_.push_back(entry[1].get<double>());
            least = std::min(least, model->scores_.back());
            model->trie_.number_of(entry[0].get_ref<const std::string&>())
                = static_cast<std::uint32_t>(model->scores_.size() - 1);
        }
        constexpr double kPenalty = 10; // SentencePiece's kUnkPenalty
        model->unknown_score_ = least - kPenalty;
        if (fields.has("unk_id")) {
            FOURFOLD_TRY(const int unknown, fields.small_integer("unk_id", 0, int(entries.size()) - 1));
            model->unknown_ = static_cast<std::uint32_t>(unknown);
        }
        FOURFOLD_TRY(const bool byte_fallback, fields.boolean_or("byte_fallback", false));
        if (byte_fallback)
            model->fallback_ = vocabulary.bytes();
        model->where_ = fields.where("unk_id");
        return ModelAndVocabulary{std::move(model), std::move(vocabulary), false};
    }

    Expected<void> tokens(std::string_view word, std::vector<std::uint32_t>& ids) const override
    {
        struct Best {
            double score = 0;
            std::size_t begin = kNowhere;
            std::uint32_t id = kNone; // none: not in the vocabulary
        };
        std::vector<Best> best(word.size() + 1);
        for (std::size_t at = 0; at < word.size();) {
            unicode::Characters characters(word.substr(at));
            char32_t skipped = 0;
            characters.next(skipped);
            const std::size_t after = at + characters.at();
            const double score = best[at].score;
            const auto offer = [&](std::size_t end, double more, std::uint32_t id) {
                Best& there = best[end];
                if (there.begin == kNowhere || score + more > there.score)
                    there = {score + more, at, id};
            };
            bool alone = false; // is the character itself a token?
            std::uint32_t node = 0;
            for (std::size_t end = at; end < word.size() && trie_.step(node, word[end]);) {
                ++end;
                const std::uint32_t id = trie_.at(node);
                if (id == kNone)
                    continue;
                offer(end, scores_[id], id);
                alone = alone || end == after;
            }
            if (!alone)
                offer(after, unknown_score_, kNone);
            at = after;
        }
        std::vector<Best> path; // from the end
        std::vector<std::size_t> ends;
        for (std::size_t end = word.size(); end > 0; end = best[end].begin) {
            // What is unknown side by side is one.
            const bool joins = best[end].id == kNone && !path.empty() && path.back().id == kNone;
            if (joins) {
                path.back().begin = best[end].begin;
            } else {
                path.push_back(best[end]);
                ends.push_back(end);
            }
        }
        for (std::size_t i = path.size(); i-- > 0;) {
            if (path[i].id != kNone) {
                ids.push_back(path[i].id);
                continue;
            }
            FOURFOLD_CHECK(add_unknown(word.substr(path[i].begin, ends[i] - path[i].begin), ids));
        }
        return {};
    }

private:
    static constexpr std::uint32_t kNone = ByteTrie::kNone;
    static constexpr std::size_t kNowhere = ~std::size_t(0);

    Expected<void> add_unknown(std::string_view text, std::vector<std::uint32_t>& ids) const
    {
        if (fallback_) {
            for (const char byte : text)
                ids.push_back((*fallback_)[static_cast<unsigned char>(byte)]);
            return {};
        }
        if (!unknown_)
            return Problem{ProblemCode::bad_input,
                "the vocabulary has no token for " + in_quotes(text) + ", and none for what it does not know", "",
                where_};
        ids.push_back(*unknown_);
        return {};
    }

    std::vector<double> scores_; // by id
    ByteTrie trie_; // token -> id
    double unknown_score_ = 0;
    std::optional<std::uint32_t> unknown_;
    std::optional<std::vector<std::uint32_t>> fallback_;
    std::string where_;
};
} // namespace

Expected<ModelAndVocabulary> unigram_model(const Fields& fields)
{
    return UnigramModel::read(fields);
}

} // namespace fourfold
