# cmake --install: headers, library, package, program. The MPI executor is used from the source tree.
# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wormcube)

install(DIRECTORY runtime collectives DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wormcube
        FILES_MATCHING PATTERN "*.hpp" PATTERN mpi EXCLUDE)
install(FILES wormcube.hpp ${generated}/wormcube/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wormcube)
install(TARGETS wormcube wormcube_headers EXPORT wormcubeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT wormcubeTargets NAMESPACE wormcube:: DESTINATION ${package_dir})
configure_package_config_file(cmake/wormcubeConfig.cmake.in ${PROJECT_BINARY_DIR}/wormcubeConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change everything.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wormcubeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wormcubeConfig.cmake ${PROJECT_BINARY_DIR}/wormcubeConfigVersion.cmake
              cmake/wormcubePlugin.cmake DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/wormcube)
if(TARGET wormcube_program)
  install(TARGETS wormcube_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
