// The library's errors as those of qsim_hpc.errors.
#include <exception>

#include "common.h"

namespace qsim::python {
namespace {

nb::object type_of(const char* name) { return nb::module_::import_("qsim_hpc.errors").attr(name); }

void raise(const char* name, const Error& error, nb::dict facts = {}) {
  const nb::object type = type_of(name);
  nb::object value = type(error.what());
  value.attr("hint") = nb::str(error.hint().c_str());
  value.attr("code") = static_cast<int>(error.code());
  for (const auto& [key, fact] : facts) nb::setattr(value, key, fact);
  PyErr_SetObject(type.ptr(), value.ptr());
}

nb::dict place(const SourceError& error) {
  nb::dict facts;
  facts["file"] = nb::str(error.where().file.c_str());
  facts["line"] = error.where().line;
  facts["column"] = error.where().column;
  return facts;
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const ParseError& error) {
    raise("ParseError", error, place(error));
  } catch (const UnsupportedError& error) {
    raise("UnsupportedError", error, place(error));
  } catch (const UsageError& error) {
    raise("UsageError", error);
  } catch (const CircuitError& error) {
    raise("CircuitError", error);
  } catch (const CapacityError& error) {
    nb::dict facts;
    facts["wanted_bytes"] = error.wanted_bytes();
    facts["free_bytes"] = error.free_bytes();
    raise("CapacityError", error, facts);
  } catch (const DeviceError& error) {
    raise("DeviceError", error);
  } catch (const CommunicatorError& error) {
    nb::dict facts;
    facts["rank"] = error.rank();
    raise("CommunicatorError", error, facts);
  } catch (const VerificationError& error) {
    raise("VerificationError", error);
  } catch (const FileError& error) {
    raise("FileError", error);
  } catch (const Error& error) {
    raise("Error", error);
  }
}

}  // namespace

void add_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace qsim::python
