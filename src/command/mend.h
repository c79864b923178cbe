/* mend.h - the texts of JSON from elsewhere, before anything reads them: bytes that are not UTF-8
 * become question marks, and a text that could fill a report is cut. */

#ifndef COMMAND_MEND_H
#define COMMAND_MEND_H

#include "buffer.h"

/* In place; a message tells how many there were. The numbers of steps ("data") stay whole. */
bool mend_json(byte_buffer *b, const char *name);

#endif
