# Compiler flags of the project's own code: warnings, sanitizers. No -ffast-math, no global -march.
add_library(qsim_flags INTERFACE)
target_compile_options(qsim_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow>)
# g++ 12 sees overlapping copies in string concatenation where there are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(qsim_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# libstdc++ 12's std::stable_sort calls a function that it declares deprecated itself; clang 22 reports that.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 20)
  target_compile_options(qsim_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
if(QSIM_WERROR)
  target_compile_options(qsim_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(QSIM_HARDEN)
  target_compile_options(qsim_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong -fcf-protection>)
  target_compile_definitions(qsim_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:_FORTIFY_SOURCE=2 _GLIBCXX_ASSERTIONS>)
  target_link_options(qsim_flags INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
if(QSIM_SANITIZE)
  target_compile_options(qsim_flags INTERFACE -fsanitize=${QSIM_SANITIZE} -fno-omit-frame-pointer -g)
  # The checks that sanitizers add hide from g++ what is initialised in its own <regex> and <functional>.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(qsim_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
  target_link_options(qsim_flags INTERFACE -fsanitize=${QSIM_SANITIZE})
endif()
