// SPDX-License-Identifier: GPL-3.0-or-later
// What reading a config.json used, what it left out, and what that may cost: the same list for command line, terminal
// and window.
#pragma once

#include "core/base/json.h"

#include <set>
#include <string>
#include <vector>

namespace fourfold {

struct ImportReport {
    struct Ignored {
        std::string key;
        std::string cost; // a sentence without full stop
        bool known = true; // false: Fourfold has never heard of the key
    };
    std::vector<std::string> used; // keys, those within objects as "object.key"
    std::vector<Ignored> ignored; // may change the prediction
    std::vector<std::string> without_effect; // token ids, dropout of 0, names: nothing of sizes or time
    std::string family; // model_type of the file
    bool trained = false; // the bundled trainer runs it
};

// `asked`: the keys that the reader asked for.
void fill_report(const Json& config, const std::set<std::string>& asked, ImportReport& report);

// As lines for people: what was used, each ignored key with its cost, how many have no effect.
std::vector<std::string> lines_of(const ImportReport& report);
Json to_json(const ImportReport& report);

} // namespace fourfold
