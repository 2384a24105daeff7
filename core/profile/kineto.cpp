// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/kineto.h"

#include "core/base/file_kind.h"
#include "core/base/input_file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/profile/kernel_context.h"
#include "core/profile/packed_stream.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include <unistd.h>

namespace fourfold {

namespace {

constexpr int kMostDepth = 64;
constexpr std::size_t kMostKernels = 50'000'000;
constexpr std::string_view kStepName = "ProfilerStep#";

bool has_any(const std::string& text, std::initializer_list<std::string_view> words)
{
    return std::any_of(
        words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

// Bytes of an element, by the names of c10::toString().
double element_bytes(const std::string& dtype)
{
    if (has_any(dtype, {"Double", "Long", "ComplexFloat"}))
        return 8;
    if (has_any(dtype, {"BFloat16", "Half", "Short"}))
        return 2;
    if (has_any(dtype, {"Float8", "Byte", "Char", "Bool"}))
        return 1;
    return 4;
}

// One element of "traceEvents", as far as it is of use.
struct Event {
    std::string phase, category, name, collective, group, dtype;
    double start_us = 0, length_us = 0, given = 0, gotten = 0, bytes = 0;
    std::int64_t stream = 0, ranks = 0, thread = 0, process = 0, correlation = 0, external_id = 0;
    std::vector<std::vector<double>> shapes; // of an operator's inputs
    // Of a host's thread, whatever the process.
    [[nodiscard]] std::int64_t host_thread() const { return process * 1'000'003 + thread; }
};

class Reader final : public nlohmann::json_sax<Json> {
public:
    explicit Reader(std::string where)
        : where_(std::move(where))
    {
    }

    Expected<Profile> take()
    {
        if (problem_)
            return *problem_;
        if (!has_events_)
            return not_a_trace("there is no list \"traceEvents\"");
        if (profile_.kernels.empty())
            return Problem{ProblemCode::bad_input, "the profiler saw no GPU at work: the trace has no kernel",
                "profile with ProfilerActivity.CUDA", where_};
        context_.fill(profile_.kernels);
        profile_.steps = gpu_steps_.empty() ? std::move(host_steps_) : std::move(gpu_steps_);
        const auto by_start = [](const auto& a, const auto& b) { return a.start_s < b.start_s; };
        std::stable_sort(profile_.kernels.begin(), profile_.kernels.end(), by_start);
        std::stable_sort(profile_.steps.begin(), profile_.steps.end(), by_start);
        return std::move(profile_);
    }

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t number) override { return number_value(double(number), number); }
    bool number_unsigned(number_unsigned_t number) override
    {
        return number_value(double(number), static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX)));
    }
    bool number_float(number_float_t number, const string_t&) override
    {
        const bool whole = std::abs(number) < 1e15;
        return number_value(number, whole ? static_cast<std::int64_t>(number) : 0);
    }
    bool string(string_t& text) override
    {
        if (in_event() && depth_ == kInEvent) {
            if (key_ == "ph")
                event_.phase = std::move(text);
            else if (key_ == "cat")
                event_.category = std::move(text);
            else if (key_ == "name")
                event_.name = std::move(text);
        } else if (in_event() && depth_ == kInEvent + 1 && in_args_) {
            if (key_ == "Collective name")
                event_.collective = std::move(text);
            else if (key_ == "Process Group Name")
                event_.group = std::move(text);
            else if (key_ == "dtype")
                event_.dtype = std::move(text);
        } else if (path_ == "deviceProperties" && key_ == "name" && profile_.device.empty()) {
            profile_.device = printable(text, kUncut);
        }
        return value();
    }
    bool binary(binary_t&) override { return value(); }
    bool start_object(std::size_t) override
    {
        if (++depth_ > kMostDepth)
            return refuse(not_a_trace("it is nested deeper than " + std::to_string(kMostDepth) + " levels"));
        if (in_event() && depth_ == kInEvent)
            event_ = {};
        if (in_event() && depth_ == kInEvent + 1)
            in_args_ = key_ == "args";
        return true;
    }
    bool end_object() override
    {
        if (in_event() && depth_ == kInEvent && !keep())
            return false;
        if (in_event() && depth_ == kInEvent + 1)
            in_args_ = false;
        --depth_;
        return true;
    }
    bool start_array(std::size_t) override
    {
        if (depth_ == 0)
            return refuse(not_a_trace("it is a list"));
        if (depth_ == 1 && path_ == "traceEvents")
            has_events_ = true;
        if (is_of_shapes() && depth_ == kInEvent + 2 && event_.shapes.size() < kMostShapes)
            event_.shapes.emplace_back();
        if (++depth_ > kMostDepth)
            return refuse(not_a_trace("it is nested deeper than " + std::to_string(kMostDepth) + " levels"));
        return true;
    }
    bool end_array() override
    {
        --depth_;
        return true;
    }
    bool key(string_t& text) override
    {
        key_ = std::move(text);
        if (depth_ == 1)
            path_ = key_;
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override
    {
        const std::string what = error.what();
        std::size_t detail = what.find("; "); // behind the library's own name of it
        if (detail == std::string::npos)
            detail = what.find("] "); // a number that no double holds
        return refuse(Problem{ProblemCode::bad_input,
            "is no whole JSON: byte " + std::to_string(position)
                + (detail == std::string::npos ? "" : ": " + printable(what.substr(detail + 2), 200)),
            "profile again, or copy the file again", where_});
    }

private:
    static constexpr int kInEvent = 3; // depth: the trace, its list, an event

    static constexpr std::size_t kMostShapes = 8; // of which a product has three

    [[nodiscard]] bool is_of_shapes() const { return in_event() && in_args_ && key_ == "Input Dims"; }
    [[nodiscard]] bool in_event() const { return path_ == "traceEvents" && depth_ >= kInEvent; }
    bool value() { return depth_ > 0 || refuse(not_a_trace("it is a single value")); }

    bool number_value(double number, std::int64_t whole)
    {
        if (in_event() && depth_ == kInEvent) {
            if (key_ == "ts")
                event_.start_us = number;
            else if (key_ == "dur")
                event_.length_us = number;
            else if (key_ == "tid")
                event_.thread = whole;
            else if (key_ == "pid")
                event_.process = whole;
        } else if (in_event() && depth_ == kInEvent + 1 && in_args_) {
            if (key_ == "stream")
                event_.stream = whole;
            else if (key_ == "Group size")
                event_.ranks = whole;
            else if (key_ == "In msg nelems")
                event_.given = number;
            else if (key_ == "Out msg nelems")
                event_.gotten = number;
            else if (key_ == "bytes")
                event_.bytes = number;
            else if (key_ == "correlation")
                event_.correlation = whole;
            else if (key_ == "External id")
                event_.external_id = whole;
        } else if (is_of_shapes() && depth_ == kInEvent + 3 && !event_.shapes.empty()) {
            if (event_.shapes.back().size() < kMostShapes)
                event_.shapes.back().push_back(number);
        } else if (path_ == "distributedInfo" && depth_ == 2) {
            if (key_ == "rank")
                profile_.rank = static_cast<int>(std::clamp<std::int64_t>(whole, -1, INT32_MAX));
            else if (key_ == "world_size")
                profile_.ranks = static_cast<int>(std::clamp<std::int64_t>(whole, 0, INT32_MAX));
        }
        return value();
    }

    // What of the event is a kernel, a copy or a step.
    bool keep()
    {
        const Event& event = event_;
        if (event.phase != "X" || !std::isfinite(event.start_us) || !(event.length_us >= 0))
            return true;
        // Beyond what any clock, step or message has: it would only make figures of hundreds of digits.
        constexpr double kLatest = 1e17, kLongest = 1e13, kMostElements = 1e18; // microseconds: 3,000 years, 100 days
        if (std::abs(event.start_us) > kLatest || event.length_us > kLongest
            || std::max({event.given, event.gotten, event.bytes}) > kMostElements)
            return refuse(not_a_trace("an event begins, lasts or sends beyond all measure: " + in_quotes(event.name)));
        const double start = event.start_us * 1e-6, end = start + event.length_us * 1e-6;
        const bool is_kernel = event.category == "kernel" || event.category == "Kernel";
        const bool is_copy = has_any(event.category, {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"});
        if (is_kernel || is_copy) {
            if (profile_.kernels.size() >= kMostKernels)
                return refuse(not_a_trace("it has more than " + std::to_string(kMostKernels) + " kernels"));
            Kernel kernel;
            kernel.name = printable(event.name, kUncut);
            kernel.kind = is_copy ? KernelKind::copy : kernel_kind(event.name);
            kernel.stream = static_cast<int>(std::clamp<std::int64_t>(event.stream, 0, INT32_MAX));
            kernel.start_s = start;
            kernel.end_s = end;
            if (kernel.kind == KernelKind::communication) {
                kernel.collective = printable(event.collective, kUncut);
                kernel.group = printable(event.group, kUncut);
                kernel.ranks = static_cast<int>(std::clamp<std::int64_t>(event.ranks, 0, INT32_MAX));
                kernel.bytes = std::max({event.given, event.gotten, 0.0}) * element_bytes(event.dtype);
            } else if (is_copy) {
                kernel.bytes = std::max(0.0, event.bytes);
            }
            context_.take_kernel(event.correlation, event.external_id);
            profile_.kernels.push_back(std::move(kernel));
        } else if (event.category == "cuda_runtime" || event.category == "cuda_driver") {
            context_.take_launch(event.correlation, event.host_thread(), start);
        } else if (event.category == "cpu_op") {
            context_.take_operator(event.name, event.external_id, event.shapes);
        } else if (event.name.starts_with(kStepName)) {
            ProfiledStep step{0, start, end};
            const char* const digits = event.name.data() + kStepName.size();
            std::from_chars(digits, event.name.data() + event.name.size(), step.number);
            (event.category == "gpu_user_annotation" ? gpu_steps_ : host_steps_).push_back(step);
        } else if (event.category == "gpu_user_annotation") {
            context_.take_range(event.name, event.thread, start, end, true);
        } else if (event.category == "user_annotation" || event.category == "python_function") {
            context_.take_range(event.name, event.host_thread(), start, end, false);
        }
        return true;
    }

    [[nodiscard]] Problem not_a_trace(const std::string& why) const
    {
        return {ProblemCode::bad_input, "is no trace of PyTorch's profiler: " + why,
            "give what torch.profiler's export_chrome_trace() wrote", where_};
    }
    bool refuse(Problem problem)
    {
        if (!problem_)
            problem_ = std::move(problem);
        return false;
    }

    std::string where_, key_, path_; // path_: the key of the trace that is being read
    int depth_ = 0;
    bool in_args_ = false, has_events_ = false;
    Event event_;
    Profile profile_;
    KernelContext context_;
    std::vector<ProfiledStep> gpu_steps_, host_steps_;
    std::optional<Problem> problem_;
};

} // namespace

KernelKind kernel_kind(const std::string& name)
{
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower.starts_with("nccl") || has_any(lower, {"nccldevkernel", "ncclkernel", "rccl"}))
        return KernelKind::communication;
    if (has_any(lower, {"flash_fwd", "flash_bwd", "flash::", "fmha", "sdpa", "mha_fwd", "mha_bwd", "attention"}))
        return KernelKind::attention;
    if (has_any(lower, {"adam", "sgd", "lamb_", "muon"}))
        return KernelKind::optimizer;
    if (has_any(lower, {"gemm", "gemv", "nvjet", "xmma", "cutlass", "splitk", "wgrad", "dgrad", "matmul"}))
        return KernelKind::product;
    return KernelKind::other;
}

namespace {
// What cannot be read as a trace: what begins neither as JSON may, nor as gzip.
std::string_view unreadable_kind_of(const std::filesystem::path& file)
{
    constexpr std::size_t kBeginning = 16; // the longest that other_kind_of() tells apart is 9
    std::array<char, kBeginning> bytes{};
    const auto fd = open_regular(file);
    const ssize_t got = fd ? ::read(fd->get(), bytes.data(), bytes.size()) : 0;
    const std::string_view kind
        = other_kind_of(std::string_view(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))));
    return kind == kPackedByGzip ? std::string_view() : kind;
}
} // namespace

Expected<Profile> read_kineto(const std::filesystem::path& file)
{
    if (const std::string_view kind = unreadable_kind_of(file); !kind.empty())
        return Problem{ProblemCode::bad_input,
            "is " + std::string(kind) + ", expected a trace as JSON in UTF-8, packed by gzip or not",
            "unpack or save it so", file.string()};
    FOURFOLD_TRY(const std::unique_ptr<PackedStream> in, PackedStream::open(file));
    Reader reader(file.string());
    Json::sax_parse(*in, &reader);
    if (!in->trouble().empty())
        return Problem{ProblemCode::bad_input, "cannot be unpacked: " + printable(in->trouble()),
            "profile again, or copy the file again", file.string()};
    return reader.take();
}

Expected<StepProfile> step_of(const Profile& profile, std::int64_t number)
{
    StepProfile step;
    double begin = profile.kernels.empty() ? 0 : profile.kernels.front().start_s, end = begin;
    for (const Kernel& kernel : profile.kernels)
        end = std::max(end, kernel.end_s);
    if (number >= 0 || !profile.steps.empty()) {
        const auto found = number < 0 ? profile.steps.end() - 1
                                      : std::find_if(profile.steps.begin(), profile.steps.end(),
                                          [&](const ProfiledStep& each) { return each.number == number; });
        if (found == profile.steps.end()) {
            constexpr std::size_t kMostNamed = 12;
            const auto& steps = profile.steps;
            std::string known;
            for (std::size_t i = 0; i < std::min(steps.size(), kMostNamed); ++i)
                known += (known.empty() ? "it has " : ", ") + std::to_string(steps[i].number);
            if (steps.size() > kMostNamed)
                known += " ... " + std::to_string(steps.back().number);
            return Problem{ProblemCode::not_found, "the trace has no step " + std::to_string(number),
                known.empty() ? "the profiler marked none: call its step()" : known, "step"};
        }
        step.number = found->number;
        begin = found->start_s;
        end = found->end_s;
    }
    step.length_s = end - begin;
    for (const Kernel& kernel : profile.kernels) {
        if (kernel.end_s <= begin || kernel.start_s >= end)
            continue;
        Kernel cut = kernel;
        cut.start_s = std::max(kernel.start_s, begin) - begin;
        cut.end_s = std::min(kernel.end_s, end) - begin;
        step.kernels.push_back(std::move(cut));
    }
    return step;
}

} // namespace fourfold
