// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/pieces.h"

#include <ATen/ops/empty.h>

#include <algorithm>

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
    const auto take = [&](int64_t first, const at::Tensor& rows) {
        whole.narrow(0, first, rows.size(0)).copy_(rows);
        use(first, rows);
    };
    take(group.rank() * n, own);
    for (int64_t index = 0; index < pieces; ++index) {
        Piece piece = std::move(under_way.front());
        under_way.pop_front();
        piece.handle.wait();
        start(index + int64_t(kUnderWay));
        const auto [begin, rows] = piece.stretch;
        for (int64_t rank = 0; rank < ranks; ++rank)
            if (rank != group.rank())
                take(rank * n + begin, piece.rows.narrow(0, rank * rows, rows));
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
        for (int64_t rank = 0; rank < ranks; ++rank)
            make(rank * n + begin, piece.summand.narrow(0, rank * rows, rows));
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
