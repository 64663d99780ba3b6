# Compiler flags of the project's own code: warnings, sanitizers. No -ffast-math, no global -march.
add_library(qsim_flags INTERFACE)
target_compile_options(qsim_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow>)
if(QSIM_WERROR)
  target_compile_options(qsim_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(QSIM_SANITIZE)
  target_compile_options(qsim_flags INTERFACE -fsanitize=${QSIM_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(qsim_flags INTERFACE -fsanitize=${QSIM_SANITIZE})
endif()
