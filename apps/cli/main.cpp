// The `wormcube` program.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/program.hpp"

int main(int argc, char** argv) { return wormcube::cli::main(argc, argv); }
