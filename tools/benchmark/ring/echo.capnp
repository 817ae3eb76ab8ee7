# SPDX-License-Identifier: Apache-2.0
# The message whose round trip is measured: 200 bytes in one segment.
@0xc3f1d2a8b4e69075;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bulkhead::benchmark");

struct Note {
  sequence @0 :UInt64;
  # Chosen by the sender; the answer has the same number.
  pts @1 :Int64;
  duration @2 :Int64;
  position @3 :Int64;
  fingerprint @4 :UInt64;
  slot @5 :UInt32;
  generation @6 :UInt32;
  width @7 :UInt32;
  height @8 :UInt32;
  stride @9 :UInt64;
  flags @10 :UInt64;
  text @11 :Data;
  # 112 bytes.
}

interface Echo {
  echo @0 (note :Note) -> (note :Note);
  # Implemented by the forked child, which is trusted.
}
