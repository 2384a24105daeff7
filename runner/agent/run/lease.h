// SPDX-License-Identifier: GPL-3.0-or-later
// Whether somebody still follows a run: every session that does touches the file `lease` as long as its client answers,
// and looks in at the supervisor's door where it is on the same computer.
#pragma once

#include <cstdint>
#include <filesystem>

namespace fourfold {

class Lease {
public:
    // `limit_s` <= 0: never over.
    Lease(std::filesystem::path file, double limit_s);

    void renew(); // somebody looked in
    // To be asked often: time in which nobody asked does not count.
    [[nodiscard]] bool is_over();

private:
    std::filesystem::path file_;
    double limit_s_, unfollowed_s_ = 0, looked_; // looked_: monotonic
    int64_t file_time_ns_ = 0;
};

// For a session that follows.
void touch_lease(const std::filesystem::path& file);

} // namespace fourfold
