# SPDX-License-Identifier: GPL-3.0-or-later
include(GoogleTest)

# fourfold_test(NAME SOURCES a.cpp ... LIBRARIES x ... [LABEL quick|long] [TIMEOUT seconds] [ENVIRONMENT A=b ...]
#               [RUN_SERIAL])
# One GoogleTest program; each of its cases is a CTest test of that label (default: quick).
function(fourfold_test name)
    cmake_parse_arguments(ARG "RUN_SERIAL" "LABEL;TIMEOUT" "SOURCES;LIBRARIES;ENVIRONMENT" ${ARGN})
    if(NOT ARG_LABEL)
        set(ARG_LABEL quick)
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name} PRIVATE
        FOURFOLD_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
        FOURFOLD_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
        FOURFOLD_TEST_DATA="${CMAKE_CURRENT_SOURCE_DIR}"
        FOURFOLD_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    set(properties LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
    if(ARG_RUN_SERIAL)
        list(APPEND properties RUN_SERIAL TRUE)
    endif()
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
        PROPERTIES ${properties})
    if(ARG_ENVIRONMENT)
        # gtest_discover_tests tears a property value that is a list apart and keeps its first entry only: set the
        # variables after the discovery, which leaves the tests' names in ${name}_TESTS.
        set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_environment.cmake)
        file(WRITE ${script} "foreach(test IN LISTS ${name}_TESTS)
    set_tests_properties(\"\${test}\" PROPERTIES ENVIRONMENT \"${ARG_ENVIRONMENT}\")
endforeach()
")
        set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
    endif()
endfunction()
