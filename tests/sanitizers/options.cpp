// SPDX-License-Identifier: GPL-3.0-or-later
// Part of every program with sanitizers: how they report, and what of other people's libraries they leave out. Compiled
// in, as the environment does not reach processes that an sshd starts.

#define FOURFOLD_REPORTS "log_path='" FOURFOLD_SANITIZER_FOLDER "/report':"

extern "C" {

const char* __asan_default_options()
{
    return FOURFOLD_REPORTS "detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1";
}

const char* __ubsan_default_options()
{
    return FOURFOLD_REPORTS "print_stacktrace=1";
}

// Tests fork clients out of processes with threads.
const char* __tsan_default_options()
{
    return FOURFOLD_REPORTS "die_after_fork=0:second_deadlock_stack=1";
}

// Of what is left out nothing is reported.
const char* __lsan_default_options()
{
    return "print_suppressions=0";
}

// What these keep until the program ends.
const char* __lsan_default_suppressions()
{
    return "leak:libfontconfig.so\n"
           "leak:libcairo.so\n";
}

// Not compiled with the sanitizer, so that their locks are not seen.
const char* __tsan_default_suppressions()
{
    return "called_from_lib:libQt6Core.so\n"
           "called_from_lib:libQt6Gui.so\n"
           "called_from_lib:libQt6Widgets.so\n";
}
}
