# Install rules: headers, library, program, and the files that find_package(qsim) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(DIRECTORY include/qsim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS qsim EXPORT qsim_targets)
install(EXPORT qsim_targets NAMESPACE qsim:: FILE qsim_targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/qsim)
configure_package_config_file(cmake/qsim-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/qsim-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/qsim)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/qsim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/qsim-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/qsim-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/qsim)
if(TARGET qsim_cli)
  install(TARGETS qsim_cli)
endif()
