// Catch2's command line as a function: its version 2 has the class for it in one translation unit only.
#pragma once

/// What a test executable's main does. Returns its exit status.
int run_catch(int argc, const char *const *argv);
