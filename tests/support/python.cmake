# KMA_PYTHON: any Python 3. KMA_PYOPENCL_PYTHON: the first with pyopencl, numpy and matplotlib.
# Debian's packages are for the system's Python, which may not be the first in PATH.
find_program(KMA_PYTHON python3 REQUIRED)
if(NOT KMA_PYOPENCL_PYTHON)
  foreach(candidate IN ITEMS ${KMA_PYTHON} /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import pyopencl, numpy, matplotlib"
      RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
      set(KMA_PYOPENCL_PYTHON ${candidate} CACHE FILEPATH
        "A Python interpreter with pyopencl, numpy and matplotlib")
      break()
    endif()
  endforeach()
endif()
if(NOT KMA_PYOPENCL_PYTHON)
  message(FATAL_ERROR "No Python with pyopencl, numpy and matplotlib: install python3-pyopencl and "
    "python3-matplotlib (Debian's and Ubuntu's names), name an interpreter by "
    "-D KMA_PYOPENCL_PYTHON=…, or set KMA_BUILD_TESTS=OFF")
endif()
