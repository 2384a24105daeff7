// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-pair encoding (Sennrich et al., arXiv:1508.07909): the neighbours whose merge was learned first are merged, the
// leftmost of equals, until none is left.
#include "core/tokenizer/model.h"
#include "core/tokenizer/packed_map.h"
#include "core/tokenizer/unicode.h"

#include <queue>

namespace fourfold {

namespace {
class BytePairModel : public TokenModel {
public:
    static Expected<ModelAndVocabulary> read(const Fields& fields, bool letters)
    {
        auto model = std::make_unique<BytePairModel>();
        if (fields.has("vocab") && fields.json()["vocab"].is_array()) // as Unigram has it
            return fields.wrong("vocab", "an object of tokens and their ids");
        FOURFOLD_TRY(Vocabulary vocabulary, Vocabulary::read(fields));
        FOURFOLD_TRY(model->prefix_, fields.text_or("continuing_subword_prefix", ""));
        FOURFOLD_TRY(model->suffix_, fields.text_or("end_of_word_suffix", ""));
        // Letters are needed where a token is more than the bytes of its part of the word.
        model->bytes_ = letters && model->prefix_.empty() && model->suffix_.empty();
        FOURFOLD_CHECK(model->read_merges(fields, vocabulary));
        FOURFOLD_TRY(const std::string unknown, fields.text_or("unk_token", ""));
        if (!unknown.empty() && !(model->unknown_ = vocabulary.id_of(unknown)))
            return fields.wrong("unk_token", "a token of the vocabulary");
        FOURFOLD_TRY(model->fuse_unknown_, fields.boolean_or("fuse_unk", false));
        FOURFOLD_TRY(model->ignore_merges_, fields.boolean_or("ignore_merges", false));
        FOURFOLD_TRY(const bool byte_fallback, fields.boolean_or("byte_fallback", false));
        if (byte_fallback)
            model->fallback_ = vocabulary.bytes();
        model->vocabulary_ = model->bytes_ ? vocabulary.as_bytes() : vocabulary;
        const bool bytes = model->bytes_;
        return ModelAndVocabulary{std::move(model), std::move(vocabulary), bytes};
    }

    Expected<void> tokens(std::string_view word, std::vector<std::uint32_t>& ids) const override
    {
        if (ignore_merges_) {
            if (const auto whole = vocabulary_.id_of(word)) {
                ids.push_back(*whole);
                return {};
            }
        }
        std::vector<std::uint32_t> symbols;
        symbols.reserve(word.size());
        begin(word, symbols);
        constexpr std::size_t kShort = 48;
        if (symbols.size() <= kShort)
            merge_short(symbols);
        else
            merge_long(symbols);
        ids.insert(ids.end(), symbols.begin(), symbols.end());
        return {};
    }

private:
    // "a b" or ["a", "b"]; the place is the rank.
    Expected<void> read_merges(const Fields& fields, const Vocabulary& vocabulary)
    {
        if (!fields.has("merges") || !fields.json()["merges"].is_array())
            return fields.missing("merges", "an array of pairs");
        std::uint32_t rank = 0;
        std::string left, right, merged;
        for (const Json& merge : fields.json()["merges"]) {
            const std::string where = fields.where("merges") + "[" + std::to_string(rank) + "]";
            const Problem wrong{
                ProblemCode::bad_input, "expected two tokens of the vocabulary whose merge is one", "", where};
            if (merge.is_string()) {
                const auto& text = merge.get_ref<const std::string&>();
                const std::size_t blank = text.find(' ');
                if (blank == std::string::npos)
                    return wrong;
                left = text.substr(0, blank);
                right = text.substr(blank + 1);
            } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
                left = merge[0].get<std::string>();
                right = merge[1].get<std::string>();
            } else {
                return wrong;
            }
            merged = left + (right.starts_with(prefix_) ? right.substr(prefix_.size()) : right);
            const auto a = vocabulary.id_of(left), b = vocabulary.id_of(right), both = vocabulary.id_of(merged);
            if (!a || !b || !both)
                return wrong;
            merges_.insert(*a, *b, {rank++, *both});
        }
        return {};
    }

    // The characters of a word (its bytes, where they are known) as tokens.
    void begin(std::string_view word, std::vector<std::uint32_t>& symbols) const
    {
        bool after_unknown = false;
        std::string text;
        for (std::size_t at = 0; at < word.size();) {
            std::size_t length = 1;
            if (!bytes_) {
                unicode::Characters characters(word.substr(at));
                char32_t skipped = 0;
                characters.next(skipped);
                length = characters.at();
            }
            text.assign(at > 0 ? prefix_ : "").append(word.substr(at, length));
            const std::string_view character = word.substr(at, length);
            at += length;
            if (at == word.size())
                text += suffix_;
            const auto id = vocabulary_.id_of(text);
            const bool unknown = !id && !fallback_ && unknown_;
            if (id) {
                symbols.push_back(*id);
            } else if (fallback_) {
                for (const char byte : character)
                    symbols.push_back((*fallback_)[static_cast<unsigned char>(byte)]);
            } else if (unknown && !(fuse_unknown_ && after_unknown)) {
                symbols.push_back(*unknown_);
            } // without a token for what is unknown nothing stands for it
            after_unknown = unknown;
        }
    }

    // Looks at all neighbours for each merge: the fastest way for words of natural length.
    void merge_short(std::vector<std::uint32_t>& symbols) const
    {
        while (symbols.size() > 1) {
            const PackedMap::Value* best = nullptr;
            std::size_t place = 0;
            for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
                const PackedMap::Value* merge = merges_.find(symbols[i], symbols[i + 1]);
                if (merge != nullptr && (best == nullptr || merge->first < best->first)) {
                    best = merge;
                    place = i;
                }
            }
            if (best == nullptr)
                return;
            symbols[place] = best->second;
            symbols.erase(symbols.begin() + std::ptrdiff_t(place) + 1);
        }
    }

    // The same in n log n steps: a queue of merges, those overtaken by another are passed over.
    void merge_long(std::vector<std::uint32_t>& symbols) const
    {
        struct Merge {
            std::uint32_t rank, made;
            std::size_t place;
            bool operator>(const Merge& other) const
            {
                return rank != other.rank ? rank > other.rank : place > other.place;
            }
        };
        constexpr std::uint32_t kGone = ~std::uint32_t(0);
        const std::size_t count = symbols.size();
        std::vector<std::size_t> next(count), last(count);
        for (std::size_t i = 0; i < count; ++i) {
            next[i] = i + 1;
            last[i] = i - 1;
        }
        std::priority_queue<Merge, std::vector<Merge>, std::greater<>> queue;
        const auto offer = [&](std::size_t place) {
            if (place >= count || next[place] >= count)
                return;
            if (const PackedMap::Value* merge = merges_.find(symbols[place], symbols[next[place]]))
                queue.push({merge->first, merge->second, place});
        };
        for (std::size_t i = 0; i < count; ++i)
            offer(i);
        while (!queue.empty()) {
            const Merge merge = queue.top();
            queue.pop();
            if (symbols[merge.place] == kGone || next[merge.place] >= count)
                continue;
            const std::size_t right = next[merge.place];
            const PackedMap::Value* now = merges_.find(symbols[merge.place], symbols[right]);
            if (now == nullptr || now->second != merge.made)
                continue;
            symbols[merge.place] = merge.made;
            symbols[right] = kGone;
            next[merge.place] = next[right];
            if (next[right] < count)
                last[next[right]] = merge.place;
            offer(last[merge.place]);
            offer(merge.place);
        }
        std::erase(symbols, kGone);
    }

    Vocabulary vocabulary_; // as bytes where bytes_
    PackedMap merges_; // (left, right) -> (rank, merged)
    std::string prefix_, suffix_;
    std::optional<std::uint32_t> unknown_;
    std::optional<std::vector<std::uint32_t>> fallback_; // ids of single bytes
    bool bytes_ = false, fuse_unknown_ = false, ignore_merges_ = false;
};
} // namespace

Expected<ModelAndVocabulary> byte_pair_model(const Fields& fields, bool letters)
{
    return BytePairModel::read(fields, letters);
}

} // namespace fourfold
