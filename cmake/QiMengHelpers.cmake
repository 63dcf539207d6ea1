# Build functions of the project: one way to make a library, a tool and a test.

# ccache when present. The two sloppiness settings are what lets it cache files that use the precompiled header.
find_program(QM_CCACHE ccache)
if(QM_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${QM_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${QM_CCACHE})
endif()
find_program(QM_LLD ld.lld-22)
if(QM_LLD AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_link_options(-fuse-ld=lld)
endif()

set(QM_WARNINGS -Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # What is found without asking the precompiled header for its contents again is right by construction.
  list(APPEND QM_WARNINGS -Wno-gnu-zero-variadic-macro-arguments)
endif()

function(_qm_common target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
  target_compile_options(${target} PRIVATE ${QM_WARNINGS})
endfunction()

# Everything on MLIR shares one precompiled header. Without it every file must include what it needs, which a build shows.
option(QM_PRECOMPILE "Precompile the headers of MLIR" ON)
function(_qm_on_mlir target)
  target_link_libraries(${target} PUBLIC qm_mlir)
  get_property(tablegen GLOBAL PROPERTY QM_TABLEGEN_TARGETS)
  if(tablegen)
    add_dependencies(${target} ${tablegen})
  endif()
  if(QM_PRECOMPILE)
    if(NOT TARGET qm_pch)
      file(WRITE ${PROJECT_BINARY_DIR}/qm_pch.cpp "// Holds the precompiled header that every target on MLIR reuses.\n")
      add_library(qm_pch STATIC ${PROJECT_BINARY_DIR}/qm_pch.cpp)
      target_link_libraries(qm_pch PUBLIC qm_mlir)
      target_compile_options(qm_pch PRIVATE ${QM_WARNINGS})
      target_precompile_headers(qm_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
    endif()
    # The header is compiled with -fPIC; CMake would give executables -fPIE, which does not mix with it.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
    target_precompile_headers(${target} REUSE_FROM qm_pch)
  endif()
endfunction()

# qm_add_library(NAME a.cpp ... [DEPS ...] [NO_PCH])
function(qm_add_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  _qm_common(${name})
  if(ARG_NO_PCH)
    target_link_libraries(${name} PUBLIC qm_mlir)
    get_property(tablegen GLOBAL PROPERTY QM_TABLEGEN_TARGETS)
    add_dependencies(${name} ${tablegen})
  else()
    _qm_on_mlir(${name})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
endfunction()

# qm_add_plain_library(NAME a.cpp ... [DEPS ...]): no MLIR, no LLVM.
function(qm_add_plain_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  _qm_common(${name})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
endfunction()

# qm_add_tool(NAME a.cpp ... [DEPS ...])
function(qm_add_tool name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _qm_common(${name})
  _qm_on_mlir(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
endfunction()

# qm_add_unittest(NAME a.cpp ... [DEPS ...] [PLAIN]): a GoogleTest program, one ctest entry a test case.
# PLAIN: does not use MLIR.
function(qm_add_unittest name)
  cmake_parse_arguments(ARG "PLAIN" "" "DEPS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _qm_common(${name})
  if(NOT ARG_PLAIN)
    _qm_on_mlir(${name})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    QM_TEST_DATA="${PROJECT_SOURCE_DIR}/test/data" QM_BINARY_DIR="${PROJECT_BINARY_DIR}"
    QM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()
