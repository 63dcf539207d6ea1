# Makes the target QiMeng::zstd: the decompressor of the runtime, static where there is a static one, so that a program
# with kernels in it depends on nothing more. Used by the build and by the installed package.
if(NOT TARGET QiMeng::zstd)
  find_path(QM_ZSTD_INCLUDE zstd.h)
  find_library(QM_ZSTD_LIBRARY NAMES libzstd.a zstd)
  mark_as_advanced(QM_ZSTD_INCLUDE QM_ZSTD_LIBRARY)
  if(QM_ZSTD_INCLUDE AND QM_ZSTD_LIBRARY)
    add_library(QiMeng::zstd UNKNOWN IMPORTED GLOBAL)
    set_target_properties(QiMeng::zstd PROPERTIES
      IMPORTED_LOCATION ${QM_ZSTD_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${QM_ZSTD_INCLUDE})
  else()
    message(FATAL_ERROR "QiMeng needs zstd (Debian: libzstd-dev)")
  endif()
endif()
