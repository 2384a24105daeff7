// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/tui.h"

#include "app/tui/linear/linear.h"
#include "app/tui/shell.h"
#include "app/view/project/project.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace fourfold::tui {

namespace {
// Of Emacs' shell, for one.
bool is_dumb()
{
    const char* const type = std::getenv("TERM");
    return type != nullptr && std::string_view(type) == "dumb";
}

Expected<void> check_given(const std::filesystem::path& place)
{
    std::error_code error;
    if (std::filesystem::is_directory(place, error) || place.filename() == view::kProjectFile) {
        FOURFOLD_CHECK(view::Project::open(place));
        return {};
    }
    FOURFOLD_CHECK(view::read_plan_file(place));
    return {};
}

bool wants_colors()
{
    const char* const no_color = std::getenv("NO_COLOR"); // no-color.org
    return no_color == nullptr || *no_color == '\0';
}
} // namespace

Expected<void> run_tui(const TuiOptions& options)
{
    std::unique_ptr<Screen> screen;
    const Linear::Bell bell;
    std::atomic<Screen*> awake{nullptr};
    const bool linear = options.linear || is_dumb();
    // The desk's threads wake the screen, so they end before it.
    Desk desk(options.predict, [&awake, &bell, linear] {
        if (linear)
            bell.ring();
        else if (Screen* const at = awake)
            at->wake();
    });
    desk.gives_advice = options.gives_advice;
    desk.find = options.find;
    if (!options.plan.empty())
        FOURFOLD_CHECK(check_given(options.plan)); // told here, before the screen
    Session session;
    const Json kept = session.read();
    Session::restore_recent(kept, desk);
    const bool restored = Session::restore_plans(kept, desk);
    if (!restored)
        FOURFOLD_CHECK(desk.files().open_start_plan());
    if (!linear) {
        FOURFOLD_TRY(screen, Screen::open({wants_colors()}));
        awake = screen.get();
        desk.terminal().send_notice = [&screen](const std::string& title, const std::string& text, bool with_text) {
            screen->notify(title, text, with_text);
        };
        if (screen->has_clipboard())
            desk.terminal().fill_clipboard = [&screen](const std::string& text) { screen->copy(text); };
    }
    Shell shell(desk, std::move(session), kept, options.plan.empty());
    if (!options.plan.empty())
        desk.files().open_any(options.plan); // a plan beside what was open before
    else if (!restored)
        desk.tell(desk.keyed("`N` makes a plan from three answers, `o` opens one, `?` lists the keys"));
    if (screen && !screen->note().empty())
        desk.tell(screen->note(), view::Tone::warning);
    if (linear) {
        ::signal(SIGPIPE, SIG_IGN); // nobody reads any more: the input ends as well
        Linear(shell, desk, bell).run();
    } else {
        shell.run(*screen);
    }
    if (shell.leave_run_behind()) {
        awake = nullptr;
        screen.reset();
        std::fputs("The run goes on; fourfold tui comes back to it.\n", stdout);
        std::fflush(stdout);
        std::_Exit(0); // its thread is in the middle of its work
    }
    return {};
}

} // namespace fourfold::tui
