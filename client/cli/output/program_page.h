// A program as text that ParseProgram reads, and as a drawing.
#pragma once

#include <string>

#include <opserve/program.h>

namespace opserve::cli {

// A step a line, then `return`.
std::string ProgramPage(const client::Program& program);
// For Graphviz: inputs, steps and outputs, and what goes from where to where.
std::string ProgramDot(const client::Program& program);

}  // namespace opserve::cli
