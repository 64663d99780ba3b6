# The library target qsim::qsim. A folder's files are picked up by name, those of its subfolders too; options pick folders.
file(GLOB qsim_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/comm/*.cpp)
foreach(folder base classical document circuit picture qasm qasm3 optimizer plan device cpu null runtime session simulator batch bench cli)
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
  file(GLOB transports CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/comm/transports/*.cpp)
  list(APPEND qsim_sources ${found} ${transports} ${kernels})
endif()

include(cmake/embed_costs.cmake)

set(build_info ${CMAKE_CURRENT_BINARY_DIR}/build_info.cpp)
add_custom_target(qsim_build_info BYPRODUCTS ${build_info}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DOUTPUT=${build_info} -DVERSION=${PROJECT_VERSION}
          "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/build_info.cmake VERBATIM)

# With QSIM_UNITY a folder is compiled at once. Not passes, of which each has names of its own, and not where a file's own
# types are members or template arguments of shared ones: g++ takes that for a mistake in an included file. Nor transports: a test
# links them alone, with a runtime of its own.
if(QSIM_UNITY)
  foreach(source ${qsim_sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE group)
    cmake_path(GET group PARENT_PATH group)
    if(group AND NOT source MATCHES "src/optimizer/passes/|src/cpu/read_out/|src/comm/threads.cpp$|src/comm/(gpu|nccl|transports)/")
      string(MAKE_C_IDENTIFIER ${group} group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endif()

# Compiled once; the libraries are made of the same objects.
add_library(qsim_objects OBJECT ${qsim_sources} ${build_info})
add_dependencies(qsim_objects qsim_build_info)
# What a file keeps to itself, and what is no public header's, is not in the shared library's interface.
set_target_properties(qsim_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                      VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD ${QSIM_UNITY} UNITY_BUILD_MODE GROUP)
target_compile_features(qsim_objects PUBLIC cxx_std_20)
target_include_directories(qsim_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include
                           PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(qsim_objects PRIVATE Threads::Threads qsim_headers qsim_flags)
if(QSIM_MPI)
  target_link_libraries(qsim_objects PRIVATE MPI::MPI_CXX)
endif()
if(QSIM_CUDA)
  target_link_libraries(qsim_objects PRIVATE CUDA::cudart_static)
endif()

# What a program that links one of the libraries needs. EXPORT_NAME is the name behind qsim:: in other projects.
function(qsim_add_library target type export_name)
  add_library(${target} ${type} $<TARGET_OBJECTS:qsim_objects>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME qsim EXPORT_NAME ${export_name} LINKER_LANGUAGE CXX)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC Threads::Threads PRIVATE $<BUILD_INTERFACE:qsim_flags> ${CMAKE_DL_LIBS})
  if(QSIM_MPI)
    target_link_libraries(${target} PRIVATE MPI::MPI_CXX)
  endif()
  if(QSIM_CUDA)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  endif()
endfunction()

qsim_add_library(qsim STATIC static)
add_library(qsim::qsim ALIAS qsim)
# Versions 0.x.y with the same x fit each other: the SONAME is libqsim.so.0.x.
if(QSIM_SHARED_LIBRARY)
  qsim_add_library(qsim_shared SHARED shared)
  set(exports ${CMAKE_CURRENT_BINARY_DIR}/qsim.exports)
  set(QSIM_ABI ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  configure_file(cmake/qsim.exports.in ${exports} @ONLY)
  set_target_properties(qsim_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${QSIM_ABI} LINK_DEPENDS ${exports})
  target_link_options(qsim_shared PRIVATE LINKER:--version-script=${exports} LINKER:--no-undefined)
endif()
