# cmake --install: headers, library, package, program; the MPI executor as the package's component mpi.
# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wormcube)

install(DIRECTORY runtime collectives DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wormcube
        FILES_MATCHING PATTERN "*.hpp" PATTERN mpi EXCLUDE)
set(WORMCUBE_MPI_COMPILER "")
if(TARGET wormcube_mpi)
  set_target_properties(wormcube_mpi PROPERTIES EXCLUDE_FROM_ALL OFF)
  # Headers that do not include mpi.h.
  install(FILES runtime/machine/mpi/machine.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wormcube/runtime/machine/mpi)
  install(FILES collectives/mpi/library.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wormcube/collectives/mpi)
  install(TARGETS wormcube_mpi EXPORT wormcubeMpiTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT wormcubeMpiTargets NAMESPACE wormcube:: DESTINATION ${package_dir})
  set(WORMCUBE_MPI_COMPILER ${MPI_CXX_COMPILER})
endif()
install(FILES wormcube.hpp include/wormcube/collectives.hpp include/wormcube/machine.hpp include/wormcube/node.hpp
              include/wormcube/schedule.hpp ${generated}/wormcube/version.hpp ${generated}/wormcube/abi.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wormcube)
install(TARGETS wormcube wormcube_headers EXPORT wormcubeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT wormcubeTargets NAMESPACE wormcube:: DESTINATION ${package_dir})
configure_package_config_file(cmake/wormcubeConfig.cmake.in ${PROJECT_BINARY_DIR}/wormcubeConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Minor versions keep programs compiling; a major version may not.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wormcubeConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wormcubeConfig.cmake ${PROJECT_BINARY_DIR}/wormcubeConfigVersion.cmake
              cmake/wormcubePlugin.cmake DESTINATION ${package_dir})
# Documents and examples keep their places in the source tree, so links between them, and commands and messages that name them, hold.
set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/wormcube)
install(FILES LICENSE README.md CONTRIBUTING.md CITATION.cff DESTINATION ${doc_dir})
install(DIRECTORY docs DESTINATION ${doc_dir})
install(DIRECTORY apps/examples USE_SOURCE_PERMISSIONS DESTINATION ${doc_dir}/apps)
install(DIRECTORY tests/package/mpi DESTINATION ${doc_dir}/tests/package)
foreach(folder runtime runtime/dataflow collectives collectives/choose apps apps/cli apps/mpi bench python)
  install(FILES ${folder}/README.md DESTINATION ${doc_dir}/${folder})
endforeach()
if(TARGET wormcube_program)
  install(TARGETS wormcube_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# The Python package, where the system's python3 looks for it: below /usr Debian has one folder for all versions.
if(WORMCUBE_PYTHON)
  execute_process(COMMAND ${WORMCUBE_PYTHON} -c "import os, sys, sysconfig; print('lib/python%d.%d/' % sys.version_info[:2] + os.path.basename(sysconfig.get_path('purelib')))"
                  OUTPUT_VARIABLE python_dir OUTPUT_STRIP_TRAILING_WHITESPACE)
  install(CODE "set(folder ${python_dir})
if(folder MATCHES dist-packages AND CMAKE_INSTALL_PREFIX MATCHES \"/usr/?$\")
  set(folder lib/python3/dist-packages)
endif()
file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/\${folder}\" TYPE DIRECTORY FILES \"${PROJECT_SOURCE_DIR}/python/wormcube\"
     PATTERN __pycache__ EXCLUDE)")
  install(DIRECTORY python/notebooks DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/wormcube/python)
endif()
