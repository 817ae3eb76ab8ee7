// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bulkhead::files {

// Returns which package of Debian has the library of FFmpeg, or of xxHash, that
// the worker could not be started without, to be put after what the worker
// wrote; or an empty text if it wrote of no such library.
//
//     bulkhead-worker: error while loading shared libraries: libavcodec.so.59:
//     cannot open shared object file: No such file or directory; Debian has
//     libavcodec.so.59 in the package libavcodec59
//
// The text may be a vendor's, who must not have people install what he likes.
// So it names nothing but the libraries that Bulkhead's own worker links.
std::string PackageOfMissingLibrary(std::string_view text_untrusted);

}  // namespace bulkhead::files
