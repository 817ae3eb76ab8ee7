// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bulkhead::files {

// Finds out from the stderr of a worker that failed to start whether a library
// of FFmpeg or xxHash is missing. Returns words to append to the text, which
// name the Debian package with the library; or an empty string if the text
// names no such library.
//
//     bulkhead-worker: error while loading shared libraries: libavcodec.so.59:
//     cannot open shared object file: No such file or directory; Debian has
//     libavcodec.so.59 in the package libavcodec59
//
// A vendor may have written the text in order to make people install a package
// of the vendor's choice. So the words name only libraries that Bulkhead's own
// worker links.
std::string PackageOfMissingLibrary(std::string_view text_untrusted);

}  // namespace bulkhead::files
