# Finds MLIR and LLVM 22.1 and makes the target qm_mlir: their include folders, definitions and the two shared libraries.
# Only the dylibs are linked: mixing them with the static MLIR archives registers everything twice.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(qm_mlir INTERFACE)
target_include_directories(qm_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_link_libraries(qm_mlir INTERFACE MLIR LLVM)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # The libraries were built by clang and look types up by their names (cmake/gcc/llvm/Support/TypeName.h).
  target_include_directories(qm_mlir INTERFACE ${CMAKE_CURRENT_LIST_DIR}/gcc)
endif()
# Passing LLVM_DEFINITIONS unsplit would redefine _GLIBCXX_USE_CXX11_ABI in every file.
separate_arguments(qm_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
foreach(definition IN LISTS qm_llvm_definitions)
  string(REGEX REPLACE "^-D" "" definition "${definition}")
  target_compile_definitions(qm_mlir INTERFACE ${definition})
endforeach()

if(NOT LLVM_ENABLE_ASSERTIONS)
  # A pass's statistics have members without NDEBUG that a library built with it does not initialise. CMake's other
  # configurations define it themselves.
  target_compile_definitions(qm_mlir INTERFACE $<$<CONFIG:Debug>:NDEBUG>)
endif()

# qm_tablegen(OUTPUT_TARGET FILE.td OUT1 -gen-x OUT2 -gen-y ...): generated files land beside the build's copy of FILE.td.
function(qm_tablegen target file)
  set(LLVM_TARGET_DEFINITIONS ${file})
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest output)
    list(POP_FRONT rest generator)
    string(REPLACE "|" ";" generator "${generator}")
    mlir_tablegen(${output} ${generator} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  endwhile()
  add_public_tablegen_target(${target})
  set_property(GLOBAL APPEND PROPERTY QM_TABLEGEN_TARGETS ${target})
endfunction()
