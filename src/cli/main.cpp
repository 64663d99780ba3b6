// Entry point of the `qsim` executable.
#include "cli/app.h"

int main(int argc, char** argv) { return qsim::cli::run_command_line({argv + (argc > 0 ? 1 : 0), argv + argc}); }
