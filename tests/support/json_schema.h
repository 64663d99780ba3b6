// Checks a JSON document against a schema file of docs/schema: the keywords that those files use.
#pragma once

#include <string>
#include <vector>

namespace qsim::test {

/// What `document` breaks in the schema docs/schema/`schema_file`, one line each; empty when it conforms.
std::vector<std::string> schema_violations(const std::string& document, const std::string& schema_file);

}  // namespace qsim::test
