// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/device/device.h"

#include <stdexcept>

namespace fourfold::trainer {

namespace {
[[noreturn]] void no_gpu()
{
    throw std::runtime_error("this is the CPU trainer: use fourfold-trainer-cuda for GPUs");
}
} // namespace

std::vector<std::string> gpu_ids()
{
    return {};
}
void select_gpu(int)
{
    no_gpu();
}
void synchronize_gpu() { }
double gpu_peak_gib()
{
    return 0;
}
Json gpu_facts()
{
    return Json::object();
}
std::string nccl_version()
{
    return "";
}
c10d::Backend* make_nccl_backend(c10d::Store*, const TransportOptions&)
{
    no_gpu();
}

} // namespace fourfold::trainer
