// SPDX-License-Identifier: GPL-3.0-or-later
// Losses beside those of transformers as a page: a table, and a picture with a panel for each family.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::testing {

struct LossesBeside {
    std::string family, mesh; // "one rank", or the degrees above 1
    std::vector<double> ours, theirs; // of each step, in fp64; of the same length
    double worst = 0, worst_fp32 = 0; // largest |ours - theirs| / theirs of a step
};

// Writes `page` (.md), and the picture beside it under the same name (.svg). False where one cannot be written.
bool write_losses_page(const std::filesystem::path& page, const std::vector<LossesBeside>& families);

} // namespace fourfold::testing
