# SPDX-License-Identifier: GPL-3.0-or-later
# LibTorch as hand-made imported targets: torch::cpu, and torch::cuda where a CUDA toolkit with NCCL is found.
#
# find_package(Torch) is not used: it enables the CUDA language, probes for a GPU and links libtorch_cuda into every
# program, so that nothing built with it starts on a computer without GPUs.
include(${CMAKE_CURRENT_LIST_DIR}/FourfoldTorchVersion.cmake)

if(NOT FOURFOLD_LIBTORCH)
    message(FATAL_ERROR "FOURFOLD_LIBTORCH is not set: give the folder of LibTorch ${FOURFOLD_TORCH_VERSION} (with "
        "include/ and lib/), run packaging/run.sh which fetches it, or build the planner alone with "
        "-DFOURFOLD_TRAINER=OFF")
endif()
set(torch_version_header ${FOURFOLD_LIBTORCH}/include/torch/headeronly/version.h)
if(NOT EXISTS ${torch_version_header})
    message(FATAL_ERROR "FOURFOLD_LIBTORCH=${FOURFOLD_LIBTORCH} holds no LibTorch ${FOURFOLD_TORCH_VERSION} "
        "(expected ${torch_version_header})")
endif()
file(STRINGS ${torch_version_header} torch_version_lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
string(REGEX REPLACE "[^0-9;]" "" torch_version_parts "${torch_version_lines}")
string(REPLACE ";" "." torch_version "${torch_version_parts}")
if(NOT torch_version VERSION_EQUAL FOURFOLD_TORCH_VERSION)
    message(FATAL_ERROR "FOURFOLD_LIBTORCH=${FOURFOLD_LIBTORCH} is LibTorch ${torch_version}, this trainer needs "
        "${FOURFOLD_TORCH_VERSION}")
endif()
foreach(library torch_cpu c10)
    if(NOT EXISTS ${FOURFOLD_LIBTORCH}/lib/lib${library}.so)
        message(FATAL_ERROR "FOURFOLD_LIBTORCH=${FOURFOLD_LIBTORCH} lacks lib/lib${library}.so: is the archive complete?")
    endif()
endforeach()

# libtorch_cpu itself needs libcudart.so.13 and libcupti.so.13 (profiler), also on a computer without GPUs: they lie
# beside the torch folder (nvidia/*/lib, as the wheels unpack) or in an installed toolkit.
file(GLOB torch_runtime_folders LIST_DIRECTORIES true ${FOURFOLD_LIBTORCH}/../nvidia/*/lib)
set(torch_runtime_folders_real ${FOURFOLD_LIBTORCH}/lib)
foreach(folder ${torch_runtime_folders})
    get_filename_component(folder ${folder} REALPATH)
    list(APPEND torch_runtime_folders_real ${folder})
endforeach()
find_path(FOURFOLD_CUDA_ROOT include/cuda_runtime.h
    HINTS $ENV{CUDA_HOME} $ENV{CUDA_PATH} PATHS /usr/local/cuda NO_DEFAULT_PATH DOC "CUDA toolkit")
if(FOURFOLD_CUDA_ROOT)
    list(APPEND torch_runtime_folders_real ${FOURFOLD_CUDA_ROOT}/lib64)
endif()

add_library(torch_cpu INTERFACE)
add_library(torch::cpu ALIAS torch_cpu)
# The shim stands before the wheel's folder: it gives the Gloo headers that the wheel lacks.
target_include_directories(torch_cpu SYSTEM INTERFACE
    ${PROJECT_SOURCE_DIR}/runner/trainer/comm/gloo_shim
    ${FOURFOLD_LIBTORCH}/include
    ${FOURFOLD_LIBTORCH}/include/torch/csrc/api/include)
target_compile_definitions(torch_cpu INTERFACE USE_C10D_GLOO USE_DISTRIBUTED)
target_link_libraries(torch_cpu INTERFACE
    ${FOURFOLD_LIBTORCH}/lib/libtorch_cpu.so ${FOURFOLD_LIBTORCH}/lib/libc10.so)
target_link_options(torch_cpu INTERFACE LINKER:--allow-shlib-undefined)

set(FOURFOLD_TORCH_CUDA FALSE)
if(NOT FOURFOLD_CUDA STREQUAL "OFF")
    set(cuda_missing "")
    if(NOT FOURFOLD_CUDA_ROOT)
        list(APPEND cuda_missing "a CUDA toolkit (set CUDA_HOME)")
    else()
        foreach(needed bin/nvcc include/nccl.h lib64/libnccl.so lib64/libcudart.so)
            if(NOT EXISTS ${FOURFOLD_CUDA_ROOT}/${needed})
                list(APPEND cuda_missing ${FOURFOLD_CUDA_ROOT}/${needed})
            endif()
        endforeach()
    endif()
    if(NOT EXISTS ${FOURFOLD_LIBTORCH}/lib/libtorch_cuda.so)
        list(APPEND cuda_missing ${FOURFOLD_LIBTORCH}/lib/libtorch_cuda.so)
    endif()
    if(NOT cuda_missing)
        set(FOURFOLD_TORCH_CUDA TRUE)
        add_library(torch_cuda INTERFACE)
        add_library(torch::cuda ALIAS torch_cuda)
        target_include_directories(torch_cuda SYSTEM INTERFACE ${FOURFOLD_CUDA_ROOT}/include)
        target_compile_definitions(torch_cuda INTERFACE USE_C10D_NCCL)
        # Nothing refers to libtorch_cuda by symbol only through ATen's dispatcher: it must be loaded all the same.
        target_link_libraries(torch_cuda INTERFACE torch_cpu
            -Wl,--no-as-needed ${FOURFOLD_LIBTORCH}/lib/libtorch_cuda.so -Wl,--as-needed
            ${FOURFOLD_LIBTORCH}/lib/libc10_cuda.so ${FOURFOLD_CUDA_ROOT}/lib64/libcudart.so ${FOURFOLD_CUDA_ROOT}/lib64/libnccl.so)
    elseif(FOURFOLD_CUDA STREQUAL "ON")
        message(FATAL_ERROR "FOURFOLD_CUDA=ON, but missing: ${cuda_missing}")
    else()
        message(STATUS "Only the CPU trainer is built; for the CUDA trainer missing: ${cuda_missing}")
    endif()
endif()

# Programs are made in other folders too (tests), which do not see this one's variables.
set_property(GLOBAL PROPERTY fourfold_torch_folders "${torch_runtime_folders_real}")

# A program that uses LibTorch: where its libraries are found at run time. Only in the build folder: an installed trainer
# gets them from the program that starts it (runner/bundle/trainer_libraries.h).
function(fourfold_torch_program target)
    get_property(folders GLOBAL PROPERTY fourfold_torch_folders)
    set_target_properties(${target} PROPERTIES BUILD_RPATH "${folders}")
endfunction()
