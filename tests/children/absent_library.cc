// SPDX-License-Identifier: Apache-2.0

extern "C" const void* function_of_absent_library() { return nullptr; }
