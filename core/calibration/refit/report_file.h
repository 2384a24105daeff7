// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of a refit, gathered in one Markdown file.
#pragma once

#include "core/base/json.h"

#include <filesystem>
#include <string>

namespace fourfold {

// Appends to `file`; does nothing where its name is empty.
inline Expected<void> append_report(const std::filesystem::path& file, const std::string& text)
{
    if (file.empty())
        return {};
    std::string whole;
    std::error_code error;
    if (std::filesystem::exists(file, error)) {
        FOURFOLD_TRY(whole, read_text_file(file));
    }
    return write_file_atomically(file, whole + text);
}

} // namespace fourfold
