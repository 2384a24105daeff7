# SPDX-License-Identifier: GPL-3.0-or-later
# What surrounds the programs when they are installed, and the Debian package (`cpack -G DEB` in the build folder).
# Each room installs its own program or data.
install(FILES LICENSE README.md packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(FOURFOLD_DESKTOP)
    install(FILES packaging/man/fourfold-desktop.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES packaging/desktop/io.github.fourfold.Fourfold.desktop
        DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
    install(FILES packaging/desktop/io.github.fourfold.Fourfold.metainfo.xml
        DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
    install(FILES resources/icons/fourfold.svg RENAME io.github.fourfold.Fourfold.svg
        DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()

if(FOURFOLD_TRAINER)
    set(scripts ${CMAKE_INSTALL_DATADIR}/fourfold/packaging)
    install(PROGRAMS packaging/libtorch.sh DESTINATION ${scripts})
    install(FILES packaging/libtorch-cpu.txt packaging/libtorch-cuda.txt DESTINATION ${scripts})
endif()

install(FILES packaging/changelog DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES packaging/lintian-overrides RENAME fourfold DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides)
# Debian's policy (12.1, 12.7) wants manual pages and changelogs compressed, without a time in them. Runs last: install
# rules keep the order in which they are declared.
find_program(FOURFOLD_GZIP gzip)
if(FOURFOLD_GZIP)
    foreach(page ${CMAKE_INSTALL_MANDIR}/man1/fourfold.1 ${CMAKE_INSTALL_MANDIR}/man1/fourfold-desktop.1
            ${CMAKE_INSTALL_DOCDIR}/changelog)
        install(CODE "
            set(page \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${page}\")
            if(EXISTS \"\${page}\")
                execute_process(COMMAND \"${FOURFOLD_GZIP}\" -9nf \"\${page}\" COMMAND_ERROR_IS_FATAL ANY)
            endif()")
    endforeach()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fourfold)
set(CPACK_PACKAGE_VENDOR Fourfold)
set(CPACK_PACKAGE_CONTACT "The Fourfold developers <fourfold@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Predicts memory and throughput of a large language
model's training for a parallel layout, runs the training on
this computer or over SSH, and keeps predictions beside
measurements.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What symbols ask for may be older than what is safe.
fourfold_oldest(libssh libssh)
fourfold_oldest(sqlite3 sqlite3)
fourfold_oldest(ncursesw ncurses)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libssh-4 (>= ${libssh}), libsqlite3-0 (>= ${sqlite3}), libncursesw6 (>= ${ncurses})")
# LibTorch is no Debian package: the user fetches it (`fourfold libtorch get`). The trainer only ships with a build that
# has it.
get_property(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS GLOBAL PROPERTY fourfold_torch_folders)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-pip, unzip")
set(CPACK_STRIP_FILES ON)
include(CPack)
