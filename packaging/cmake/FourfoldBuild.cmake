# SPDX-License-Identifier: GPL-3.0-or-later
# Compiler, linker and install settings that every target shares.
include(GNUInstallDirs)
include(CheckLinkerFlag)
include(FourfoldVersions)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# GNU ld walks all transitive Qt and Torch libraries and takes tens of seconds; lld takes under one.
check_linker_flag(CXX -fuse-ld=lld FOURFOLD_HAVE_LLD)
if(FOURFOLD_HAVE_LLD)
    add_link_options(-fuse-ld=lld)
endif()

find_program(FOURFOLD_CCACHE ccache)
if(FOURFOLD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Paths below the checkout count relative to the build folder, so that another checkout or build folder hits too.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true
        ${FOURFOLD_CCACHE})
endif()

# Several sources in one compilation read the headers and instantiate the templates that they share once: a third of the
# processor time of a build from nothing. The price is that names in anonymous namespaces of one target must differ, and
# that a small change compiles its neighbours too; the `dev` preset is without.
set(CMAKE_UNITY_BUILD ${FOURFOLD_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# Libraries that more than one layer links: found here, because imported targets are known only below the folder that
# found them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
fourfold_find_package(nlohmann_json)
fourfold_find_module(SODIUM libsodium)
fourfold_find_module(ZSTD libzstd)
fourfold_find_module(ZLIB zlib)

# All programs side by side, so that they find each other without an installation.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

add_library(fourfold_options INTERFACE)
# GCC 12 sees overlapping copies in std::string's own operator+ (its bug 105651): a warning, but no error. Tests name
# the members that matter to them; the others are empty.
target_compile_options(fourfold_options INTERFACE -Wall -Wextra
    "$<$<BOOL:${FOURFOLD_WERROR}>:-Werror;-Wno-error=restrict;-Wno-error=missing-field-initializers>")
target_include_directories(fourfold_options INTERFACE ${PROJECT_SOURCE_DIR})
if(FOURFOLD_SANITIZE)
    # GCC 12 with sanitizers takes std::function inside std::regex for uninitialized.
    add_compile_options(-Wno-maybe-uninitialized)
    add_compile_options(-fsanitize=${FOURFOLD_SANITIZE} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${FOURFOLD_SANITIZE})
    # Their options and suppressions, pulled into every program that is linked.
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/reports)
    add_library(fourfold_sanitizer_options STATIC ${PROJECT_SOURCE_DIR}/tests/sanitizers/options.cpp)
    target_compile_definitions(fourfold_sanitizer_options PRIVATE
        FOURFOLD_SANITIZER_FOLDER="${PROJECT_BINARY_DIR}/reports")
    link_libraries(fourfold_sanitizer_options)
    foreach(symbol asan_default_options tsan_default_options)
        add_link_options(LINKER:-u,__${symbol})
    endforeach()
endif()
