// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a fuzz target over its corpus and over mutations of it: for compilers without libFuzzer and as a test.
// replay FOLDER [MUTATIONS | SECONDSs]: so many mutations, always the same ones, or others each time for as long. What
// breaks the target is left in the working folder.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

bool is_digit(std::uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

// The digits from `at` on become a number at which types and limits end.
void replace_number(Bytes& input, std::size_t at, std::mt19937& random)
{
    constexpr std::array<std::string_view, 14> kNumbers{"0", "-1", "1", "2", "255", "65536", "1048576", "2147483647",
        "2147483648", "4294967296", "9223372036854775807", "18446744073709551615", "1e300", "0.5"};
    const auto begin = std::find_if(input.begin() + static_cast<std::ptrdiff_t>(at), input.end(), is_digit);
    const auto end = std::find_if_not(begin, input.end(), is_digit);
    if (begin == end)
        return;
    const std::string_view number = kNumbers[random() % kNumbers.size()];
    const auto place = input.erase(begin, end);
    input.insert(place, number.begin(), number.end());
}

// The input that runs, for when it ends the program.
const Bytes* running = nullptr;
char left_name[64];

void leave_input()
{
    const int file = ::open(left_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || running == nullptr)
        return;
    const bool whole = ::write(file, running->data(), running->size()) == static_cast<ssize_t>(running->size());
    const std::string_view words = whole ? "the input that did it is left as " : "the input that did it is cut short: ";
    for (const std::string_view part : {words, std::string_view(left_name), std::string_view("\n")})
        (void)!::write(STDERR_FILENO, part.data(), part.size());
    ::close(file);
}

void at_end(int signal)
{
    leave_input();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void run(const Bytes& input)
{
    running = &input;
    LLVMFuzzerTestOneInput(input.data(), input.size());
    running = nullptr;
}

Bytes mutated(Bytes input, const std::vector<Bytes>& corpus, std::mt19937& random)
{
    const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
    for (std::size_t change = below(4) + 1; change > 0; --change) {
        const std::size_t at = below(input.size() + 1);
        const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
        switch (below(6)) {
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
        case 4: // another number
            replace_number(input, at, random);
            break;
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
        std::cerr << "usage: replay FOLDER [MUTATIONS | SECONDSs]\n";
        return 2;
    }
    std::snprintf(left_name, sizeof left_name, "broke-%d", int(::getpid()));
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM})
        std::signal(signal, at_end);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<Bytes> corpus;
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
        run(corpus.back());
    }
    if (corpus.empty()) {
        std::cerr << "no corpus in " << argv[1] << "\n";
        return 1;
    }
    const std::string amount = argc > 2 ? argv[2] : "2000";
    const bool timed = amount.ends_with('s');
    const std::uint_fast32_t seed = timed ? std::random_device()() : 20261121;
    std::mt19937 random(seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(timed ? std::stoi(amount) : 0);
    int done = 0;
    for (; timed ? std::chrono::steady_clock::now() < end : done < std::stoi(amount); ++done)
        run(mutated(corpus[random() % corpus.size()], corpus, random));
    std::cout << corpus.size() << " inputs and " << done << " mutations (seed " << seed << ")\n";
    return 0;
}
