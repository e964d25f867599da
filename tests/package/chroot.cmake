# The .deb on a fresh system: packed here, the rest in chroot.sh.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/support.cmake)
pack(DEB package)
set(tool "")
if(KMA_BUILD_TOOLS)
  set(tool kma)
endif()
run(COMMAND ${TEST_DIR}/chroot.sh ${WORK}/root ${package} ${TEST_DIR} ${KMA_VERSION} ${tool})
