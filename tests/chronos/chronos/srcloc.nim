## Where futures come from, with the field names of Chronos.

type SrcLoc* = object
  procedure*, file*: cstring
  line*: int
