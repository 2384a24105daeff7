// SPDX-License-Identifier: GPL-3.0-or-later
// Standard input, output and error of a program, as whoever starts it may have closed or filled them.
#pragma once

namespace fourfold {

// Where descriptor 0, 1 or 2 is closed, the next file, pipe or socket of the program
// would take its number, and text for the terminal would go into it: here it is taken by /dev/null, opened for reading
// only. Reading finds the end at once; writing fails as it would on a closed descriptor, so that the exit status can
// tell.
void open_standard_streams();

// open_standard_streams(), and what would end the program without a word becomes an error of write(): a reader that
// goes away (SIGPIPE; `| head` must not kill a run that is followed), a file beyond the limit of sizes (SIGXFSZ).
// What the parent ignored of its children's ends, or blocked, is undone.
void begin_program();

// Flushes what was printed to stdout. A program's exit status: `status`, or 1 with a line on standard error where that
// was 0 and the output could not be written.
int status_after_output(int status, const char* program);

} // namespace fourfold
