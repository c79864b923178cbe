/* chroprof.h, whole: the order of its parts, and what stands around them. src/join.sh makes the
 * header of it. A part begins with a paragraph of its own, which the join leaves out as this one;
 * so does it with lines that end in a comment "part alone". */

#include "interface/manual.h"
#ifndef CHROPROF_H
#define CHROPROF_H

#include "interface/version.h"

#include "interface/config.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "interface/kinds.h"

#include "interface/types.h"

#include "interface/life.h"

#include "interface/events.h"

#include "interface/reading.h"

#include "interface/sampler.h"

#include "interface/output.h"

#ifdef __cplusplus
}
#endif

#include "interface/macros.h"

#include "interface/loops.h"

/* A reader of the interface may stop here. */
#endif /* CHROPROF_H */

#if defined(CHROPROF_IMPLEMENTATION) && !defined(CHROPROF_IMPLEMENTATION_DONE)
#define CHROPROF_IMPLEMENTATION_DONE

/* From here on the compiler keeps to itself what it holds of our style: the program around has its
 * own. CHROPROF_STRICT: it tells. */
#if defined(__GNUC__) && !defined(CHROPROF_STRICT)
#pragma GCC system_header
#endif

#include "base/platform.h"

#include "base/util.h"

#include "block/rows.h"

#include "block/core.h"

#include "block/layout.h"

#include "block/histogram.h"

#include "block/tables.h"

#include "block/windows.h"

#include "block/clock.h"

#include "block/items.h"

#include "block/modules.h"

#include "block/stacks.h"

#include "block/samples.h"

#include "event/step.h"

#include "event/anomalies.h"

#include "event/tally.h"

#include "event/ageing.h"

#include "event/open.h"

#include "event/stalls.h"

#include "event/slow.h"

#include "event/stack.h"

#include "event/events.h"

#include "event/callers.h"

#include "event/fast.h"

#include "reading/figures.h"

#include "reading/paths.h"

#include "reading/ranks.h"

#include "reading/futures.h"

#include "reading/windows.h"

#include "reading/stalls.h"

#include "reading/samples.h"

#include "reading/lists.h"

#include "reading/totals.h"

#include "reading/validate.h"

#include "public/setup.h"

#include "public/on_stall.h"

#include "public/start.h"

#include "public/send.h"

#include "public/outside.h"

#include "public/reset.h"

#include "copies/owner.h"

#ifndef CHROPROF_NO_COPIES
#include "copies/snapshot.h"

#include "copies/difference.h"

#include "copies/merge.h"
#endif /* CHROPROF_NO_COPIES */

#include "sampler/timer.h"

#include "sampler/due.h"

#include "sampler/follow.h"

#include "sampler/handler.h"

#include "sampler/start.h"

CHROPROF__COLD_BEGIN

#include "public/now.h"

#include "copies/map.h"

#include "writers/words.h"

#ifndef CHROPROF_NO_FINDINGS
#include "writers/phrases.h"

#include "writers/findings_futures.h"
#include "writers/findings_waits.h"
#include "writers/findings_stutters.h"

#include "writers/findings_stalls.h"
#include "writers/findings.h"
#endif /* CHROPROF_NO_FINDINGS */

#include "writers/output.h"

#ifndef CHROPROF_NO_TEXT
#include "writers/columns.h"
#include "writers/text.h"

#include "writers/text_summary.h"

#include "writers/text_tables.h"

#include "writers/text_sites.h"

#include "writers/text_latency.h"

#include "writers/text_paths.h"

#include "writers/text_stalls.h"

#include "writers/text_slowest.h"

#include "writers/text_samples.h"

#include "writers/text_series.h"

#include "writers/text_report.h"
#else
CHROPROF__LEFT_OUT(chroprof__as_text)
#endif /* CHROPROF_NO_TEXT */

#include "writers/json.h"

#include "writers/folded.h"

#include "writers/prometheus.h"

#include "writers/pprof.h"


#undef CHROPROF__LEFT_OUT

#include "writers/formats.h"

CHROPROF__COLD_END
#endif /* CHROPROF_IMPLEMENTATION */

/*
LICENSE

chroprof is available under two licenses; choose whichever you prefer.

Alternative A - MIT No Attribution (MIT-0)

Copyright (c) 2026 The chroprof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of
this software and associated documentation files (the "Software"), to deal in
the Software without restriction, including without limitation the rights to
use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies
of the Software, and to permit persons to whom the Software is furnished to do
so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.

Alternative B - The Unlicense (https://unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this
software, either in source code form or as a compiled binary, for any purpose,
commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this
software dedicate any and all copyright interest in the software to the public
domain. We make this dedication for the benefit of the public at large and to
the detriment of our heirs and successors. We intend this dedication to be an
overt act of relinquishment in perpetuity of all present and future rights to
this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN
ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
