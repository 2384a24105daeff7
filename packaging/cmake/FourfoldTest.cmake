# SPDX-License-Identifier: GPL-3.0-or-later
include(GoogleTest)

# How many times as long as usual a test may take.
set(FOURFOLD_PATIENCE 1)
if(FOURFOLD_SANITIZE)
    set(FOURFOLD_PATIENCE 10)
endif()

# fourfold_test(NAME SOURCES a.cpp ... LIBRARIES x ... [LABEL quick|long] [LONG pattern ...] [TIMEOUT seconds]
#               [ENVIRONMENT A=b ...] [RUN_SERIAL] [SHARDS n] [WAITS])
# One GoogleTest program; each of its cases is a CTest test of that label (default: quick). LONG names the slow cases of
# a quick program that have a quick sibling, as in "Suite.Case" or "Suite.A*". SHARDS: n CTest tests share the cases, for
# programs that take long to start or that keep what their cases have in common; they compute, and each takes the place
# of two tests. WAITS: its cases wait for clocks and other processes more than they compute; two of all such cases run at
# a time, so that the cores have other tests to do meanwhile, and first, as they bound how long a suite takes.
function(fourfold_test name)
    cmake_parse_arguments(ARG "RUN_SERIAL;WAITS" "LABEL;TIMEOUT;SHARDS" "SOURCES;LIBRARIES;ENVIRONMENT;LONG" ${ARGN})
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
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * ${FOURFOLD_PATIENCE}")
    set(properties TIMEOUT ${ARG_TIMEOUT})
    if(ARG_RUN_SERIAL)
        list(APPEND properties RUN_SERIAL TRUE)
    endif()
    if(ARG_WAITS)
        get_property(waiting GLOBAL PROPERTY FOURFOLD_WAITING)
        math(EXPR waiting "1 - 0${waiting}") # every second program
        set_property(GLOBAL PROPERTY FOURFOLD_WAITING ${waiting})
        list(APPEND properties RESOURCE_LOCK waits_${waiting} COST 1000)
    elseif(ARG_SHARDS)
        list(APPEND properties COST 100 PROCESSORS 2)
    endif()
    if(ARG_SHARDS)
        if(ARG_LONG OR ARG_ENVIRONMENT)
            message(FATAL_ERROR "${name}: SHARDS goes with neither LONG nor ENVIRONMENT")
        endif()
        math(EXPR last "${ARG_SHARDS} - 1")
        foreach(shard RANGE ${last})
            math(EXPR number "${shard} + 1")
            add_test(NAME ${name}.${number}of${ARG_SHARDS} COMMAND ${name} --gtest_brief=1)
            set_tests_properties(${name}.${number}of${ARG_SHARDS} PROPERTIES LABELS ${ARG_LABEL} ${properties}
                ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
        endforeach()
        return()
    endif()
    list(JOIN ARG_LONG ":" long)
    set(discovery TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
    gtest_discover_tests(${name} ${discovery} TEST_FILTER "-${long}" PROPERTIES LABELS ${ARG_LABEL} ${properties})
    if(ARG_LONG)
        gtest_discover_tests(${name} ${discovery} TEST_FILTER "${long}" TEST_LIST ${name}_LONG_TESTS
            PROPERTIES LABELS long ${properties})
    endif()
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
