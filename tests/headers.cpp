// Nothing: its precompiled headers are those of the tests (CMakeLists.txt).
