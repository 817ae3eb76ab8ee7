// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/convert/scaler_context.h"

extern "C" {
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
}

namespace bulkhead::worker::convert {

void FreeSwsContext::operator()(SwsContext* context) const {
  sws_freeContext(context);
}

SwsContextPtr AllocateScaler(const Picture& source, const Picture& target,
                             int flags) {
  SwsContextPtr context(sws_alloc_context());
  if (context == nullptr) return nullptr;
  av_opt_set_int(context.get(), "srcw", source.width, 0);
  av_opt_set_int(context.get(), "srch", source.height, 0);
  av_opt_set_int(context.get(), "src_format", source.format, 0);
  av_opt_set_int(context.get(), "dstw", target.width, 0);
  av_opt_set_int(context.get(), "dsth", target.height, 0);
  av_opt_set_int(context.get(), "dst_format", target.format, 0);
  av_opt_set_int(context.get(), "sws_flags", flags, 0);
  return context;
}

}  // namespace bulkhead::worker::convert
