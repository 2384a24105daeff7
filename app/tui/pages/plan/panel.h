// SPDX-License-Identifier: GPL-3.0-or-later
// A picture of the answer on the plan page.
#pragma once

#include "app/tui/desk.h"

#include <memory>
#include <string>
#include <vector>

namespace fourfold::tui {

class Panel {
public:
    explicit Panel(Desk& desk)
        : desk_(desk)
    {
    }
    virtual ~Panel() = default;
    [[nodiscard]] virtual const char* name() const = 0;
    virtual void draw(Canvas& canvas, const Rect& place, const Prediction& prediction, bool focused, const Look& look)
        = 0;
    virtual bool key(const Key& key, const Prediction& prediction) = 0;
    [[nodiscard]] virtual std::string hints() const = 0;
    [[nodiscard]] virtual Table table(const Prediction& prediction) const = 0; // for files
    // What is chosen or read off in it, for who hears it.
    [[nodiscard]] virtual std::vector<std::string> said(const Prediction&) { return {}; }
    // All of the chosen row, where that may be cut.
    [[nodiscard]] virtual std::string remark() const { return {}; }
    // Where it can be written as a picture.
    [[nodiscard]] virtual Picture picture(const Prediction&) const { return {}; }

protected:
    // Opens the derivation of a figure, or of the part of it that is called so.
    void derive(const Prediction& prediction, const std::string& figure, const std::string& part = {});
    Desk& desk_;
};

std::unique_ptr<Panel> make_memory_panel(Desk& desk);
std::unique_ptr<Panel> make_time_panel(Desk& desk);
std::unique_ptr<Panel> make_timeline_panel(Desk& desk);
std::unique_ptr<Panel> make_mesh_panel(Desk& desk);
std::unique_ptr<Panel> make_bounds_panel(Desk& desk);
std::unique_ptr<Panel> make_training_panel(Desk& desk);

// The derivation of a figure over the page; `part`: the child of that name.
void open_derivation(Desk& desk, const Prediction& prediction, const std::string& figure, const std::string& part = {});

} // namespace fourfold::tui
