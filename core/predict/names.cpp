// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/prediction.h"

namespace fourfold {

std::string_view name(Fit fit)
{
    switch (fit) {
    case Fit::fits:
        return "fits";
    case Fit::tight:
        return "tight";
    case Fit::no:
        return "no";
    }
    return "no";
}

std::string_view name(Evidence evidence)
{
    switch (evidence) {
    case Evidence::measured:
        return "measured";
    case Evidence::calibrated:
        return "calibrated";
    case Evidence::extrapolated:
        return "extrapolated";
    }
    return "extrapolated";
}

} // namespace fourfold
