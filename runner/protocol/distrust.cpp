// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/distrust.h"

namespace fourfold {

Problem distrust(std::string_view why, const std::string& place)
{
    if (why == "kind")
        return {ProblemCode::io, "the base folder cannot be made: " + place + " is not a folder",
            "set the target's base_folder to a folder that you may write", {}};
    const std::string message = "nothing can safely be run from here: " + place;
    if (why == "owner")
        return {ProblemCode::refused, message + " belongs to another user",
            "set the target's base_folder to a place where every folder above it is yours or root's", {}};
    if (why == "root")
        return {ProblemCode::refused, "nothing can safely be run from here: / belongs neither to root nor to you",
            "in a user name space without root (as of unshare -U) root's files look like anybody's: start it outside, "
            "or map root in it, as container programs do with newuidmap",
            {}};
    if (why == "group")
        return {ProblemCode::refused, message + " may be written by its group",
            "chmod g-w " + place + ", or name it in the target's group_writable_folders if you trust all of that group",
            {}};
    return {ProblemCode::refused, message + " may be written by others",
        "chmod go-w " + place + ", or set the target's base_folder to another place", {}};
}

} // namespace fourfold
