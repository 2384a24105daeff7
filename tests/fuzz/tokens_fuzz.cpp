// SPDX-License-Identifier: GPL-3.0-or-later
// Files of tokens, and where in them samples and windows begin: no token lies outside of the file or the vocabulary.
// The first bytes say type, range, length and step.
#include "must.h"
#include "runner/trainer/data/sampler.h"

#include <array>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fourfold;
    using namespace fourfold::trainer;
    constexpr std::size_t kHead = 8;
    constexpr std::array<const char*, 4> kTypes{"uint8", "uint16", "uint32", ""};
    if (size < kHead)
        return 0;
    const fuzz::MemoryFile file(data + kHead, size - kHead);
    DataSource source;
    source.path = file.path();
    source.dtype = kTypes[data[0] % kTypes.size()];
    source.begin = data[1] / 255.0;
    source.end = data[2] / 255.0;
    const std::int64_t length = data[3] % 64 + 1, vocab = data[4] == 0 ? 1 << 30 : data[4];
    const std::int64_t padding = data[5] % 2 == 0 ? -1 : data[5];
    const auto sampler = Sampler::open({source, source}, {"fuzz"}, data[6], length, vocab,
        {data[0] % 2 == 0 ? DataOrder::random : DataOrder::epochs, {data[1] % 2 == 0, data[2] % 8, false}, padding});
    if (!sampler)
        return 0;
    std::vector<std::int64_t> tokens(std::size_t(length), -7), labels(std::size_t(length), -7);
    for (std::int64_t i = 0; i < 8; ++i) {
        const Sampler::Sequence out{tokens.data(), labels.data()};
        if (!(i % 2 == 0 ? sampler->sample(data[7] * 1000003 + i, 8, out) : sampler->window(data[7] * i, out)))
            continue;
        for (std::size_t at = 0; at < tokens.size(); ++at) {
            fuzz::must(tokens[at] >= 0 && tokens[at] < vocab);
            fuzz::must(labels[at] == Sampler::kNoLabel || (labels[at] >= 0 && labels[at] < vocab));
        }
    }
    return 0;
}
