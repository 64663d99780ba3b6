# Writes src/plan/cost/machines/*.json as string literals into a source file: qsim::detail::built_in_machines().
file(GLOB cost_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/plan/cost/machines/*.json)
set(cost_entries "")
foreach(cost_file ${cost_files})
  get_filename_component(cost_name ${cost_file} NAME_WE)
  file(READ ${cost_file} cost_text)
  string(APPEND cost_entries "    {\"${cost_name}\", R\"json(${cost_text})json\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cost_file})
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/built_in_machines.cpp @ONLY CONTENT
"// Generated from src/plan/cost/machines/*.json.
#include \"plan/cost/machine.h\"

namespace qsim::detail {
namespace {
const BuiltInMachine kMachines[] = {
@cost_entries@};
}  // namespace
std::span<const BuiltInMachine> built_in_machines() { return kMachines; }
}  // namespace qsim::detail
")
list(APPEND qsim_sources ${CMAKE_CURRENT_BINARY_DIR}/built_in_machines.cpp)
