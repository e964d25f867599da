// The OpenCL C++ bindings with kma's settings. Include this or any kma header instead of
// <CL/opencl.hpp>.
#pragma once

#if __cplusplus < 202002L
#error "kma needs C++20: give the compiler -std=c++20, or link kma::kma in CMake, which does."
#endif
#ifdef CL_HPP_
#ifndef CL_HPP_ENABLE_EXCEPTIONS
#error "kma needs OpenCL errors as exceptions: define CL_HPP_ENABLE_EXCEPTIONS before <CL/opencl.hpp>, or include kma first."
#endif
#else
#ifndef CL_HPP_TARGET_OPENCL_VERSION
#ifdef CL_TARGET_OPENCL_VERSION // the C header's version, which the bindings require to be as high
#define CL_HPP_TARGET_OPENCL_VERSION CL_TARGET_OPENCL_VERSION
#else
#define CL_HPP_TARGET_OPENCL_VERSION 300
#endif
#endif
// 110 with 300: the bindings of Debian 12 do not compile with 120 and 300.
#ifndef CL_HPP_MINIMUM_OPENCL_VERSION
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#endif
#ifndef CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_ENABLE_EXCEPTIONS
#endif
#include <CL/opencl.hpp>
#endif
