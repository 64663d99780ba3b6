// What the shared library shows: the namespace of the public headers, as they write it. Everything else is hidden.
#pragma once

#define QSIM_PUBLIC [[gnu::visibility("default")]]
