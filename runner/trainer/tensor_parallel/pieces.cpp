// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/pieces.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

namespace fourfold::trainer {

namespace {
// Enough that little of the last piece is left to wait for, few enough that latencies do not add up.
constexpr int64_t kPieces = 4;
// A piece that is gathered has as many of the others' rows as there are own ones, whose product runs beside the first:
// products of fewer rows are slower (by a quarter with 64 instead of 256).
int64_t gathered_pieces(int64_t ranks)
{
    return std::min(kPieces, ranks - 1);
}

struct Stretch {
    int64_t begin = 0, rows = 0;
};
// Up to `most` pieces of n rows.
std::vector<Stretch> pieces_of(int64_t n, int64_t most)
{
    const int64_t count = std::min(most, n);
    std::vector<Stretch> pieces;
    for (int64_t index = 0; index < count; ++index) {
        const int64_t begin = n * index / count;
        pieces.push_back({begin, n * (index + 1) / count - begin});
    }
    return pieces;
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

at::Tensor gather_in_pieces(
    const at::Tensor& any, const Communicator& group, const UseRows& use, const std::function<void()>& meanwhile)
{
    const at::Tensor own = any.contiguous();
    const int64_t n = own.size(0), ranks = group.size();
    struct Piece {
        Stretch stretch;
        at::Tensor rows; // of all ranks
        Handle handle;
    };
    const at::Tensor whole = like(own, ranks * n);
    const std::vector<Stretch> stretches = pieces_of(n, gathered_pieces(ranks));
    const bool in_place = stretches.size() == 1; // its rows come where they belong
    // All at once: whoever computes in between does not keep the link idle.
    std::deque<Piece> under_way;
    for (const Stretch& stretch : stretches) {
        Piece piece{stretch, in_place ? whole : like(own, ranks * stretch.rows), {}};
        piece.handle = group.start_all_gather(piece.rows, own.narrow(0, stretch.begin, stretch.rows));
        under_way.push_back(std::move(piece));
    }

    const auto take = [&](const RowsOfRanks& which, const at::Tensor& rows) {
        const at::Tensor place = which.of(whole);
        if (!in_place)
            place.copy_(rows.view(place.sizes()));
        use(which, rows);
    };
    take({group.rank(), 1, n, 0, n}, own);
    if (meanwhile)
        meanwhile();
    for (; !under_way.empty(); under_way.pop_front()) {
        Piece& piece = under_way.front();
        piece.handle.wait();
        const auto [begin, rows] = piece.stretch;
        for (const auto& [first, last] :
            {std::pair<int64_t, int64_t>(0, group.rank()), std::pair<int64_t, int64_t>(group.rank() + 1, ranks)})
            if (last > first)
                take({first, last - first, n, begin, rows}, piece.rows.narrow(0, first * rows, (last - first) * rows));
    }
    return whole;
}

ScatterInPieces::ScatterInPieces(std::vector<int64_t> shape, const at::TensorOptions& options,
    const Communicator& group, const UseRows& make, bool cut)
{
    const int64_t ranks = group.size(), n = shape.at(0) / ranks;
    shape[0] = n;
    sum_ = at::empty(shape, options);
    for (const auto& [begin, rows] : pieces_of(n, cut ? kPieces : 1)) {
        Piece piece{like(sum_, ranks * rows), {}};
        make({0, ranks, n, begin, rows}, piece.summand);
        piece.handle = group.start_reduce_scatter(sum_.narrow(0, begin, rows), piece.summand);
        under_way_.push_back(std::move(piece));
    }
}

at::Tensor ScatterInPieces::finish()
{
    for (; !under_way_.empty(); under_way_.pop_front())
        under_way_.front().handle.wait();
    return sum_;
}

} // namespace fourfold::trainer
