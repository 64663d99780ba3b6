// All of it.
#pragma once

#include "qsim/batch.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "qsim/picture.h"
#include "qsim/program.h"
#include "qsim/qasm.h"
#include "qsim/session.h"
#include "qsim/state.h"
#include "qsim/target.h"
