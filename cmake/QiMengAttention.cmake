# qm_add_attention_library(<target>
#     SPECS <file>...                 .cpp or .mlir
#     ARCHS <target>...               cpu, x86-64-v3, sm_80, sm_90a, ...: `qmc build --arch`; what one of them cannot have (bf16 on sm_75)
#                                     is left out for it with a warning if another has it
#     [DTYPES bf16|f16|f32 ...]       else the specs' own
#     [HEAD_DIMS <n>...]              else the specs' own
#     [HEADS <query>x<kv> ...]        else the specs' own
#     [VARIANTS <name:when:set>...]   more kernels, for some lengths: `qmc build --variant`
#     [SET <key=value>...]            overrides, as `qmc build --set`
#     [INCLUDE_DIRECTORIES <dir>...]  for .cpp specs
#     [CACHE_DIR <dir>]               kernels that are compiled already; default: QM_CACHE_DIR of CMake or the environment
#     [SHARED])                       libNAME.so, with the runtime in it, and not libNAME.a
#
# Compiles the specs in the build and makes the library <target>, which brings its header <target>.h and the runtime:
#
#     qm_add_attention_library(attn SPECS layer.cpp ARCHS x86-64-v3 sm_80 sm_90a DTYPES bf16 f16)
#     target_link_libraries(service PRIVATE attn)
#
# A change of a spec, of a header that it includes, or of qmc compiles again. qmc is QiMeng::qmc, or the program that the
# variable QiMeng_QMC names: where one cross-compiles, or has a compiler from elsewhere.
function(qm_add_attention_library target)
  cmake_parse_arguments(ARG "SHARED" "CACHE_DIR"
    "SPECS;ARCHS;DTYPES;HEAD_DIMS;HEADS;VARIANTS;SET;INCLUDE_DIRECTORIES" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "qm_add_attention_library(${target}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  foreach(required SPECS ARCHS)
    if(NOT ARG_${required})
      message(FATAL_ERROR "qm_add_attention_library(${target}): ${required} is missing")
    endif()
  endforeach()
  string(MAKE_C_IDENTIFIER "${target}" name)
  if(NOT name STREQUAL target)
    message(FATAL_ERROR "qm_add_attention_library(${target}): the functions of the library begin with its name; use letters, digits and underscores")
  endif()
  if(QiMeng_QMC)
    set(qmc ${QiMeng_QMC})
  elseif(TARGET QiMeng::qmc)
    set(qmc QiMeng::qmc)
  else()
    message(FATAL_ERROR "qm_add_attention_library(${target}): this QiMeng was built without its compiler; set QiMeng_QMC to a qmc")
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.qm)
  file(MAKE_DIRECTORY ${folder})
  set(specs)
  foreach(spec IN LISTS ARG_SPECS)
    get_filename_component(spec ${spec} ABSOLUTE)
    list(APPEND specs ${spec})
  endforeach()
  if(ARG_SHARED)
    set(library ${folder}/lib${name}.so)
    set(kind shared)
  else()
    set(library ${folder}/lib${name}.a)
    set(kind archive)
  endif()
  set(command build ${specs} --emit=${kind} -o ${folder}/${name} --depfile=${folder}/${name}.d)
  foreach(flag_and_list "--arch=ARCHS" "--dtype=DTYPES" "--head-dim=HEAD_DIMS" "--heads=HEADS")
    string(REPLACE "=" ";" flag_and_list ${flag_and_list})
    list(GET flag_and_list 0 flag)
    list(GET flag_and_list 1 values)
    if(ARG_${values})
      list(JOIN ARG_${values} "," joined)
      list(APPEND command ${flag}=${joined})
    endif()
  endforeach()
  foreach(variant IN LISTS ARG_VARIANTS)
    list(APPEND command --variant=${variant})
  endforeach()
  foreach(setting IN LISTS ARG_SET)
    list(APPEND command --set=${setting})
  endforeach()
  foreach(include IN LISTS ARG_INCLUDE_DIRECTORIES)
    get_filename_component(include ${include} ABSOLUTE)
    list(APPEND command -I${include})
  endforeach()
  if(NOT ARG_CACHE_DIR AND QM_CACHE_DIR)
    set(ARG_CACHE_DIR ${QM_CACHE_DIR})
  endif()
  if(ARG_CACHE_DIR)
    list(APPEND command --cache-dir=${ARG_CACHE_DIR})
  endif()

  add_custom_command(
    OUTPUT ${library} ${folder}/${name}.h ${folder}/${name}.json
    COMMAND ${qmc} ${command}
    DEPENDS ${specs} ${qmc}
    DEPFILE ${folder}/${name}.d
    COMMENT "Compiling attention kernels of ${name}"
    VERBATIM)
  add_custom_target(${target}_kernels DEPENDS ${library} ${folder}/${name}.h ${folder}/${name}.json)
  if(ARG_SHARED)
    add_library(${target} SHARED IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_SONAME lib${name}.so)
    # Headers only: the runtime is in the library.
    target_link_libraries(${target} INTERFACE QiMeng::headers)
  else()
    add_library(${target} STATIC IMPORTED GLOBAL)
    target_link_libraries(${target} INTERFACE QiMeng::runtime)
  endif()
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${library}
    QM_MANIFEST ${folder}/${name}.json)
  target_include_directories(${target} INTERFACE ${folder})
  add_dependencies(${target} ${target}_kernels)
endfunction()
