# Writes OUTPUT (build_info.cpp) from the commit as it is now; leaves the file alone when nothing changed.
# Run at every build: cmake -DSOURCE=... -DOUTPUT=... -DVERSION=... -DCOMPILER=... -P build_info.cmake
set(commit "")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --short HEAD OUTPUT_VARIABLE commit
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${git} -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(commit AND changes)
    string(APPEND commit "+")
  endif()
endif()
set(text "// Written by cmake/build_info.cmake.\n#include \"base/build_info.h\"\n\nnamespace qsim {\n
BuildInfo build_info() { return {\"${VERSION}\", \"${commit}\", \"${COMPILER}\"}; }\n\n}  // namespace qsim\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
