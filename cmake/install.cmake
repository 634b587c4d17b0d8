# What `cmake --install` puts where, and how others find it: find_package(acre) and pkg-config.
include(CMakePackageConfigHelpers)

set(ACRE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/acre)

install(TARGETS acre acre_static EXPORT acreTargets)
if(TARGET acre_trace)
    install(TARGETS acre_trace EXPORT acreTargets)
    # Apart from the others, because it alone asks its users for zlib.
    install(TARGETS acre_trace_static EXPORT acreTraceStaticTargets)
    install(EXPORT acreTraceStaticTargets NAMESPACE acre:: DESTINATION ${ACRE_CMAKE_DIR})
else()
    set(ACRE_NO_TRACE_HEADER PATTERN trace.h EXCLUDE)
endif()
install(EXPORT acreTargets NAMESPACE acre:: DESTINATION ${ACRE_CMAKE_DIR})

install(DIRECTORY include/acre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" ${ACRE_NO_TRACE_HEADER})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET acre_cli)
    install(TARGETS acre_cli)
    if(EXISTS ${PROJECT_SOURCE_DIR}/docs/man/acre.1)
        install(FILES docs/man/acre.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    endif()
endif()

configure_package_config_file(cmake/acreConfig.cmake.in cmake/acreConfig.cmake
    INSTALL_DESTINATION ${ACRE_CMAKE_DIR})
# Before 1.0 a minor version may break its callers.
write_basic_package_version_file(cmake/acreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/cmake/acreConfig.cmake
    ${PROJECT_BINARY_DIR}/cmake/acreConfigVersion.cmake
    DESTINATION ${ACRE_CMAKE_DIR})

# The .pc files name their prefix relative to themselves: an installed tree can be moved, and
# `cmake --install --prefix` may name another prefix than the configuration did.
set(ACRE_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(ACRE_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
    set(ACRE_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
    set(ACRE_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
    file(RELATIVE_PATH up /${ACRE_PC_DIR} /)
    string(REGEX REPLACE "/$" "" up "${up}")
    set(ACRE_PC_PREFIX "\${pcfiledir}/${up}")
    set(ACRE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(ACRE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/acre.pc.in cmake/acre.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/acre.pc DESTINATION ${ACRE_PC_DIR})
if(TARGET acre_trace)
    configure_file(cmake/acre-trace.pc.in cmake/acre-trace.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/cmake/acre-trace.pc DESTINATION ${ACRE_PC_DIR})
endif()
