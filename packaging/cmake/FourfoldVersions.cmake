# SPDX-License-Identifier: GPL-3.0-or-later
# The one list of what no library may be older than, and why. "as tested" is the oldest that the tests run with, which
# is Debian 12's. LibTorch is one exact version (FourfoldTorchVersion.cmake).
set(FOURFOLD_NOT_BELOW
    "libssh|0.10.6|CVE-2023-6004: a host name could run a command here, and CVE-2023-48795: messages could be taken out of a connection"
    "libzstd|1.3.8|CVE-2019-11922: compression wrote beyond its buffer"
    "zlib|1.2.13|CVE-2022-37434: a header of a packed file wrote beyond its buffer"
    "sqlite3|3.39.2|CVE-2022-35737: a long text wrote beyond its buffer"
    "ncursesw|6.1|colour pairs beyond 256, taken as they are needed"
    "libsodium|1.0.18|as tested"
    "cairo|1.16|as tested"
    "libpcre2-8|10.40|CVE-2022-1586 and CVE-2022-1587: its just-in-time code read beyond the text"
    "libutf8proc|2.6|as tested"
    "nlohmann_json|3.11|as tested"
    "SQLiteCpp|3.2|as tested"
    "CLI11|2.1|as tested"
    "Qt6|6.4|as tested"
    "Ceres|2.0|its solver's options have other names"
    "GTest|1.12|as tested"
    "benchmark|1.7|as tested")

# Sets `out` to what `library` must not be older than, and `out`_why to the reason.
function(fourfold_oldest library out)
    foreach(line IN LISTS FOURFOLD_NOT_BELOW)
        if(line MATCHES "^${library}\\|([^|]*)\\|(.*)$")
            set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
            set(${out}_why "${CMAKE_MATCH_2}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
    message(FATAL_ERROR "${library} is missing in the list of packaging/cmake/FourfoldVersions.cmake")
endfunction()

# Stops the configuration where `version` of `library` is too old.
function(fourfold_not_below library version)
    fourfold_oldest(${library} oldest)
    if(version VERSION_LESS oldest)
        message(FATAL_ERROR "${library} ${version} is too old: Fourfold needs ${oldest} or newer (${oldest_why}). "
            "Install your system's updates of it, or use a newer system: Debian 12 has all that is needed.")
    endif()
endfunction()

# find_package() of a library of the list.
macro(fourfold_find_package library)
    find_package(${library} REQUIRED ${ARGN})
    fourfold_not_below(${library} "${${library}_VERSION}")
endmacro()

# pkg_check_modules() of a library of the list, and of further modules that come with it.
macro(fourfold_find_module prefix library)
    pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET GLOBAL ${library} ${ARGN})
    # One module's version has another name than that of several.
    fourfold_not_below(${library} "${${prefix}_VERSION}${${prefix}_${library}_VERSION}")
endmacro()
