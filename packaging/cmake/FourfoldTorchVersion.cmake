# SPDX-License-Identifier: GPL-3.0-or-later
# FOURFOLD_TORCH_VERSION: the LibTorch that the trainer is written for, as the wheels are pinned.
set(fourfold_torch_pins ${CMAKE_CURRENT_LIST_DIR}/../libtorch-cpu.txt)
file(STRINGS ${fourfold_torch_pins} fourfold_torch_pin REGEX "^torch==")
string(REGEX REPLACE "^torch==([0-9.]+) .*$" "\\1" FOURFOLD_TORCH_VERSION "${fourfold_torch_pin}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${fourfold_torch_pins})
