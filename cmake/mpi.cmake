# The MPI executor: wormcube_mpi for the MPI that CMake finds, and for the tests one library per installed MPI.
# SPDX-License-Identifier: Apache-2.0
file(GLOB_RECURSE wormcube_mpi_sources CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/runtime/machine/mpi/*.cpp ${PROJECT_SOURCE_DIR}/collectives/mpi/*.cpp)

function(wormcube_add_mpi_library name mpi)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${wormcube_mpi_sources})
  # By default both MPIs include their long deprecated C++ classes in mpi.h.
  target_compile_definitions(${name} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(${name} PUBLIC wormcube ${mpi} PRIVATE $<BUILD_INTERFACE:wormcube_flags>)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# CMake caches failed searches, so it would not find an MPI that was installed since.
function(wormcube_forget_failed_search)
  get_cmake_property(variables CACHE_VARIABLES)
  foreach(variable IN LISTS variables)
    # Values set by the user stay.
    if(variable MATCHES "^MPI(EXEC)?_" AND ("$CACHE{${variable}}" MATCHES "^$|NOTFOUND" OR variable MATCHES "^MPI_RESULT_"))
      unset(${variable} CACHE)
    endif()
  endforeach()
endfunction()

if(DEFINED CACHE{WORMCUBE_MPI_WAS_FOUND} AND NOT WORMCUBE_MPI_WAS_FOUND)
  wormcube_forget_failed_search()
endif()
find_package(MPI QUIET COMPONENTS CXX)
set(WORMCUBE_MPI_WAS_FOUND ${MPI_CXX_FOUND} CACHE INTERNAL "Whether the last search for an MPI found one")
if(MPI_CXX_FOUND)
  wormcube_add_mpi_library(wormcube_mpi MPI::MPI_CXX)
  # The installed package exports it as wormcube::mpi.
  set_target_properties(wormcube_mpi PROPERTIES EXPORT_NAME mpi)
  add_library(wormcube::mpi ALIAS wormcube_mpi)
else()
  message(STATUS "no MPI here (Debian: libopenmpi-dev or libmpich-dev): nodes in MPI processes are not built, their tests are skipped")
endif()

# FindMPI handles only one MPI. For others, the compiler wrapper reports the options that it adds.
function(wormcube_find_mpi kind)
  find_program(WORMCUBE_MPICXX_${kind} mpicxx.${kind})
  find_program(WORMCUBE_MPIRUN_${kind} mpirun.${kind})
  mark_as_advanced(WORMCUBE_MPICXX_${kind} WORMCUBE_MPIRUN_${kind})
  if(NOT WORMCUBE_MPICXX_${kind} OR NOT WORMCUBE_MPIRUN_${kind})
    return()
  endif()
  execute_process(COMMAND ${WORMCUBE_MPICXX_${kind}} -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${line}")
  add_library(mpi_${kind} INTERFACE)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.*)")
      target_include_directories(mpi_${kind} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.*)")
      target_link_directories(mpi_${kind} INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-l.*cxx$")  # the C++ classes
    elseif(word MATCHES "^-l(.*)")
      target_link_libraries(mpi_${kind} INTERFACE ${CMAKE_MATCH_1})
    endif()
  endforeach()
  wormcube_add_mpi_library(wormcube_mpi_${kind} mpi_${kind})
endfunction()
