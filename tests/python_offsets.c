/* python_offsets.c - are the offsets of src/run/python.h those of the headers of this Python?
 * Built with its include folder. Prints what differs, and returns how many. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>

#include <stddef.h>
#include <stdio.h>

#include "../src/run/python.h"

static int wrong;

static void compare(const char *what, size_t here, size_t known)
{
    if (here != known) {
        printf("%s is at %d, not %d\n", what, (int)here, (int)known);
        wrong++;
    }
}

#define AT(type, field, known) compare(#type "." #field, offsetof(type, field), l->known)

int main(void)
{
    const python_layout *l = python_layout_of(PY_VERSION_HEX);
    if (l == NULL) {
        puts("no layout of this version");
        return 1;
    }
    AT(_PyRuntimeState, interpreters.head, interpreters);
    AT(PyInterpreterState, next, next_interpreter);
    AT(PyInterpreterState, threads.head, threads);
    AT(PyThreadState, next, next_thread);
    AT(PyThreadState, cframe, cframe);
    AT(PyThreadState, native_thread_id, native_id);
    AT(PyThreadState, root_cframe, root_cframe);
    AT(_PyCFrame, current_frame, current);
    AT(_PyCFrame, previous, outer);
    AT(_PyInterpreterFrame, f_code, code);
    AT(_PyInterpreterFrame, previous, caller);
    AT(_PyInterpreterFrame, prev_instr, instruction);
    AT(_PyInterpreterFrame, is_entry, entry);
    AT(_PyInterpreterFrame, owner, owner);
    AT(_PyInterpreterFrame, localsplus, frame_bytes);
    AT(PyCodeObject, co_firstlineno, first_line);
    AT(PyCodeObject, co_filename, file);
    AT(PyCodeObject, co_qualname, name);
    AT(PyCodeObject, co_linetable, lines);
    AT(PyCodeObject, _co_firsttraceable, traceable);
    AT(PyCodeObject, co_code_adaptive, bytecode);
    AT(PyVarObject, ob_base.ob_type, type);
    AT(PyVarObject, ob_size, size);
    AT(PyBytesObject, ob_sval, bytes);
    AT(PyASCIIObject, length, length);
    AT(PyASCIIObject, state, state);
    compare("text behind PyASCIIObject", sizeof(PyASCIIObject), l->ascii);
    compare("text behind PyCompactUnicodeObject", sizeof(PyCompactUnicodeObject), l->compact);
    return wrong;
}
