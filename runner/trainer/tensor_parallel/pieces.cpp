// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/pieces.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

namespace fourfold::trainer {

namespace {
// Enough that little of the last piece is left to wait for, few enough that latencies do not add up.
constexpr int64_t kPieces = 4;
constexpr std::size_t kUnderWay = 2; // at once: bounds the memory

struct Stretch {
    int64_t begin = 0, rows = 0;
};
// Piece `index` of n rows.
Stretch piece_of(int64_t n, int64_t index)
{
    const int64_t pieces = std::min(kPieces, n), begin = n * index / pieces;
    return {begin, n * (index + 1) / pieces - begin};
}

at::Tensor like(const at::Tensor& x, int64_t rows)
{
    auto shape = x.sizes().vec();
    shape[0] = rows;
    return at::empty(shape, x.options());
}
} // namespace

at::Tensor RowsOfRanks::of(const at::Tensor& whole) const
{
    auto shape = whole.sizes().vec();
    shape[0] = n;
    shape.insert(shape.begin(), whole.size(0) / n);
    return whole.view(shape).narrow(0, rank, ranks).narrow(1, begin, rows);
}

at::Tensor gather_in_pieces(const at::Tensor& any, const Communicator& group, const UseRows& use)
{
    const at::Tensor own = any.contiguous();
    const int64_t n = own.size(0), pieces = std::min(kPieces, n), ranks = group.size();
    struct Piece {
        Stretch stretch;
        at::Tensor rows;
        Handle handle;
    };
    std::deque<Piece> under_way;
    const auto start = [&](int64_t index) {
        if (index >= pieces)
            return;
        Piece piece{piece_of(n, index), {}, {}};
        piece.rows = like(own, ranks * piece.stretch.rows);
        piece.handle = group.start_all_gather(piece.rows, own.narrow(0, piece.stretch.begin, piece.stretch.rows));
        under_way.push_back(std::move(piece));
    };
    for (std::size_t i = 0; i < kUnderWay; ++i)
        start(int64_t(i));

    const at::Tensor whole = like(own, ranks * n);
    const auto take = [&](const RowsOfRanks& which, const at::Tensor& rows) {
        const at::Tensor place = which.of(whole);
        place.copy_(rows.view(place.sizes()));
        use(which, rows);
    };
    take({group.rank(), 1, n, 0, n}, own);
    for (int64_t index = 0; index < pieces; ++index) {
        Piece piece = std::move(under_way.front());
        under_way.pop_front();
        piece.handle.wait();
        start(index + int64_t(kUnderWay));
        const auto [begin, rows] = piece.stretch;
        for (const auto& [first, last] :
            {std::pair<int64_t, int64_t>(0, group.rank()), std::pair<int64_t, int64_t>(group.rank() + 1, ranks)})
            if (last > first)
                take({first, last - first, n, begin, rows}, piece.rows.narrow(0, first * rows, (last - first) * rows));
    }
    return whole;
}

ScatterInPieces::ScatterInPieces(
    std::vector<int64_t> shape, const at::TensorOptions& options, const Communicator& group, const UseRows& make)
{
    const int64_t ranks = group.size(), n = shape.at(0) / ranks;
    shape[0] = n;
    sum_ = at::empty(shape, options);
    for (int64_t index = 0; index < std::min(kPieces, n); ++index) {
        const auto [begin, rows] = piece_of(n, index);
        Piece piece{like(sum_, ranks * rows), {}};
        make({0, ranks, n, begin, rows}, piece.summand);
        if (under_way_.size() >= kUnderWay)
            wait_for_oldest();
        piece.handle = group.start_reduce_scatter(sum_.narrow(0, begin, rows), piece.summand);
        under_way_.push_back(std::move(piece));
    }
}

void ScatterInPieces::wait_for_oldest()
{
    under_way_.front().handle.wait();
    under_way_.pop_front();
}

at::Tensor ScatterInPieces::finish()
{
    while (!under_way_.empty())
        wait_for_oldest();
    return sum_;
}

} // namespace fourfold::trainer
