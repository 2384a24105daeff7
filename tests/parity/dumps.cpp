// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/dumps.h"

#include "core/base/json.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace fourfold::testing {

Dump read_dump(const std::filesystem::path& folder, int rank, const std::string& kind)
{
    const auto base = (folder / ("dump" + std::to_string(rank) + kind)).string();
    const auto index = read_json_file(base + ".json");
    if (!index)
        throw std::runtime_error(index.error().line());
    std::ifstream values(base + ".bin", std::ios::binary);
    Dump dump;
    dump.losses = (*index)["losses"].get<std::vector<double>>();
    dump.grad_norms = (*index)["grad_norms"].get<std::vector<double>>();
    dump.eval_loss = (*index)["eval_loss"].get<double>();
    dump.overlapped = (*index)["overlapped"].get<int64_t>();
    dump.published_beside = (*index)["published_beside"].get<int64_t>();
    dump.replays = (*index)["replays"].get<int64_t>();
    dump.without_graphs = (*index)["without_graphs"].get<std::string>();
    for (const auto& [key, bytes] : {std::pair{"bytes", &dump.bytes}, std::pair{"step_bytes", &dump.step_bytes}})
        for (const auto& [group, operations] : (*index)[key].items())
            (*bytes)[group] = operations.get<std::map<std::string, int64_t>>();
    for (const Json& entry : (*index)["tensors"]) {
        DumpedTensor tensor;
        tensor.full_shape = entry["full_shape"].get<std::vector<int64_t>>();
        tensor.tp_dim = entry["tp_dim"].get<int>();
        tensor.begin = entry["begin"].get<int64_t>();
        tensor.length = entry["length"].get<int64_t>();
        for (auto* member : {&tensor.gradient, &tensor.weight}) {
            member->resize(entry["elements"].get<std::size_t>());
            values.read(reinterpret_cast<char*>(member->data()), std::streamsize(member->size() * sizeof(double)));
        }
        if (!values)
            throw std::runtime_error(base + ".bin is too short");
        dump.tensors[entry["name"].get<std::string>()] = std::move(tensor);
    }
    return dump;
}

double worst_difference(
    const DumpedTensor& part, const DumpedTensor& reference, std::vector<double> DumpedTensor::*member)
{
    const auto& own = part.*member;
    const auto& full = reference.*member;
    const int64_t full_rows = reference.full_shape[0];
    const int64_t full_columns = int64_t(full.size()) / full_rows;
    const int64_t rows = part.tp_dim == 0 ? part.length : part.full_shape[0];
    const int64_t columns = int64_t(own.size()) / rows;
    const int64_t first_row = part.tp_dim == 0 ? part.begin : 0, first_column = part.tp_dim == 1 ? part.begin : 0;
    double largest = 0, worst = 0;
    for (const double value : full)
        largest = std::max(largest, std::abs(value));
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column) {
            const int64_t at = first_row + row;
            const double expected = at < full_rows ? full[std::size_t(at * full_columns + first_column + column)] : 0;
            const double difference = std::abs(own[std::size_t(row * columns + column)] - expected);
            worst = std::isfinite(difference) ? std::max(worst, difference) : INFINITY;
        }
    return worst / std::max(largest, kSmallestScale);
}

} // namespace fourfold::testing
