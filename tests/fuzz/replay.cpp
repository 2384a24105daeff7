// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a fuzz target over its corpus and over mutations of it, always the same ones: for compilers without libFuzzer
// and as a quick test. replay FOLDER [MUTATIONS]
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes mutated(Bytes input, const std::vector<Bytes>& corpus, std::mt19937& random)
{
    const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
    for (std::size_t change = below(4) + 1; change > 0; --change) {
        const std::size_t at = below(input.size() + 1);
        const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
        switch (below(5)) {
        case 0: // another byte
            if (at < input.size())
                input[at] = static_cast<std::uint8_t>(random());
            break;
        case 1: // one bit
            if (at < input.size())
                input[at] ^= static_cast<std::uint8_t>(1u << below(8));
            break;
        case 2: // a piece less
            input.erase(
                place, place + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(64, input.size() - at) + 1)));
            break;
        case 3: // a piece of another one
        {
            const Bytes& other = corpus[below(corpus.size())];
            const std::size_t from = below(other.size()),
                              size = below(std::min<std::size_t>(256, other.size() - from) + 1);
            input.insert(place, other.begin() + static_cast<std::ptrdiff_t>(from),
                other.begin() + static_cast<std::ptrdiff_t>(from + size));
            break;
        }
        default: // the same byte many times
            input.insert(place, below(300), static_cast<std::uint8_t>(random()));
        }
    }
    return input;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::cerr << "usage: replay FOLDER [MUTATIONS]\n";
        return 2;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<Bytes> corpus;
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
        LLVMFuzzerTestOneInput(corpus.back().data(), corpus.back().size());
    }
    if (corpus.empty()) {
        std::cerr << "no corpus in " << argv[1] << "\n";
        return 1;
    }
    const int mutations = argc > 2 ? std::atoi(argv[2]) : 2000;
    std::mt19937 random(20261121);
    for (int i = 0; i < mutations; ++i) {
        const Bytes input = mutated(corpus[random() % corpus.size()], corpus, random);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::cout << corpus.size() << " inputs and " << mutations << " mutations\n";
    return 0;
}
