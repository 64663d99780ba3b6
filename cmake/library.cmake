# The library target qsim::qsim. A folder's files are picked up by name, those of its subfolders too; options pick folders.
file(GLOB qsim_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/comm/*.cpp)
foreach(folder base classical circuit qasm qasm3 optimizer plan device cpu null runtime simulator batch bench cli)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}/*.cpp)
  list(APPEND qsim_sources ${found})
endforeach()
list(FILTER qsim_sources EXCLUDE REGEX "src/cli/main\\.cpp$")
file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/cpu/*.cpp)
list(APPEND qsim_sources ${found})
foreach(isa avx2 avx512)
  set(isa_files ${found})
  list(FILTER isa_files INCLUDE REGEX "_${isa}\\.cpp$")
  set(flags_avx2 -mavx2 -mfma -mbmi2)
  set(flags_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mbmi2 -mprefer-vector-width=512)
  set_source_files_properties(${isa_files} PROPERTIES COMPILE_OPTIONS "${flags_${isa}}")
endforeach()

# What an option adds, or the file that says it is absent.
foreach(part mpi cuda nccl)
  string(TOUPPER ${part} option)
  if(QSIM_${option})
    set(folder_mpi src/comm/mpi)
    set(folder_cuda src/cuda)
    set(folder_nccl src/comm/nccl)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder_${part}}/*.cpp)
    list(APPEND qsim_sources ${found})
  elseif(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/src/absent/${part}.cpp)
    list(APPEND qsim_sources src/absent/${part}.cpp)
  endif()
endforeach()
if(QSIM_CUDA)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/comm/gpu/*.cpp)
  file(GLOB kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/cuda/*.cu)
  list(APPEND qsim_sources ${found} ${kernels})
endif()

include(cmake/embed_costs.cmake)

set(build_info ${CMAKE_CURRENT_BINARY_DIR}/build_info.cpp)
add_custom_target(qsim_build_info BYPRODUCTS ${build_info}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DOUTPUT=${build_info} -DVERSION=${PROJECT_VERSION}
          "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/build_info.cmake VERBATIM)

add_library(qsim STATIC ${qsim_sources} ${build_info})
add_dependencies(qsim qsim_build_info)
add_library(qsim::qsim ALIAS qsim)
set_target_properties(qsim PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_features(qsim PUBLIC cxx_std_20)
target_include_directories(qsim PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(qsim PUBLIC Threads::Threads PRIVATE $<BUILD_INTERFACE:qsim_headers> $<BUILD_INTERFACE:qsim_flags>)
if(QSIM_MPI)
  target_link_libraries(qsim PRIVATE MPI::MPI_CXX)
endif()
if(QSIM_CUDA)
  target_link_libraries(qsim PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
endif()
