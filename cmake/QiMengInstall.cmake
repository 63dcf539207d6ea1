# The package that find_package(QiMeng) finds in an install tree; the targets' own install rules are beside the targets.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/QiMeng)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/QiMengConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/QiMengConfig.cmake INSTALL_DESTINATION ${package_folder})
# While the major version is 0 a minor version may change anything.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/QiMengConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/QiMengConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/QiMengConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/QiMengAttention.cmake
  ${CMAKE_CURRENT_LIST_DIR}/QiMengZstd.cmake
  DESTINATION ${package_folder})

# Everything that `cmake --install` takes, without the tests.
add_custom_target(qm_package)
foreach(target qmc qm_dsl qm_runtime qm_runtime_shared qm-run-cases)
  if(TARGET ${target})
    add_dependencies(qm_package ${target})
  endif()
endforeach()
