// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/c10d_store.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace fourfold::trainer {

namespace {

using Bytes = std::vector<std::uint8_t>;

std::string_view view(const Bytes& bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
Bytes bytes(std::string_view text)
{
    return {text.begin(), text.end()};
}

[[noreturn]] void raise(const Problem& problem)
{
    if (problem.code == ProblemCode::network)
        C10_THROW_ERROR(DistNetworkError, "lost rank 0: " + problem.message);
    C10_THROW_ERROR(DistStoreError, problem.message);
}

template <typename T>
T value(Expected<T> expected)
{
    if (!expected)
        raise(expected.error());
    if constexpr (!std::is_void_v<T>)
        return *std::move(expected);
}

class JobStore final : public c10d::Store {
public:
    JobStore(std::shared_ptr<StoreClient> client, std::chrono::milliseconds limit)
        : Store(limit)
        , client_(std::move(client))
    {
    }

    c10::intrusive_ptr<Store> clone() override
    {
        return c10::make_intrusive<JobStore>(value(client_->again()), timeout_);
    }
    void set(const std::string& key, const Bytes& bytes) override { value(client_->set(key, view(bytes))); }
    Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& wanted) override
    {
        return bytes(value(client_->compare_set(key, view(expected), view(wanted))));
    }
    Bytes get(const std::string& key) override { return bytes(value(client_->get(key, timeout_))); }
    int64_t add(const std::string& key, int64_t count) override { return value(client_->add(key, count)); }
    bool deleteKey(const std::string& key) override { return value(client_->erase(key)); }
    bool check(const std::vector<std::string>& keys) override { return value(client_->missing(keys)).empty(); }
    int64_t getNumKeys() override { return value(client_->count()); }
    void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& limit) override
    {
        const auto missing = value(client_->missing(keys, limit));
        if (!missing.empty())
            raise({ProblemCode::not_found,
                "timed out after " + std::to_string(limit.count()) + " ms of waiting for " + keys[missing.front()], {},
                {}});
    }
    void append(const std::string& key, const Bytes& bytes) override { value(client_->append(key, view(bytes))); }
    std::vector<Bytes> multiGet(const std::vector<std::string>& keys) override
    {
        std::vector<Bytes> all;
        for (const std::string& text : value(client_->get(keys, timeout_)))
            all.push_back(bytes(text));
        return all;
    }
    void multiSet(const std::vector<std::string>& keys, const std::vector<Bytes>& values) override
    {
        for (std::size_t i = 0; i < keys.size(); ++i)
            set(keys[i], values.at(i));
    }
    [[nodiscard]] bool hasExtendedApi() const override { return true; }

private:
    std::shared_ptr<StoreClient> client_;
};

} // namespace

std::shared_ptr<c10d::Store> make_c10d_store(std::shared_ptr<StoreClient> client, double limit_s)
{
    if (!client)
        return nullptr;
    auto store = c10::make_intrusive<JobStore>(std::move(client), std::chrono::milliseconds(int64_t(limit_s * 1000)));
    c10d::Store* const own = store.get();
    return {own, [kept = std::move(store)](c10d::Store*) mutable { kept.reset(); }};
}

} // namespace fourfold::trainer
