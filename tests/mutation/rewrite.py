"""Sources with every mutation point as a call of tests/mutation/mutation.h; lines stay lines."""

import collections
import dataclasses
import re

import tree_sitter
import tree_sitter_cpp

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))

# What an operator becomes, in the order of the variants 1, 2, ...; names of mutation.h beside them.
NAMES = {"<": "Less", "<=": "LessEqual", ">": "Greater", ">=": "GreaterEqual", "==": "Equal", "!=": "NotEqual",
         "+": "Plus", "-": "Minus", "*": "Times", "/": "Over", "%": "Modulo", "<<": "ShiftLeft", ">>": "ShiftRight",
         "&": "And", "|": "Or", "^": "Xor"}
NAMES.update({f"{sign}=": f"{NAMES[sign]}Assign" for sign in ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")})
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
SWAPPED = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|"}
UNARY = {"-": "minus", "!": "inverted", "~": "complement"}

# Never changed: types, what must be a constant expression, texts for people.
KEPT = {"template_argument_list", "template_parameter_list", "static_assert_declaration", "enumerator_list",
        "array_declarator", "requires_clause", "requires_expression", "decltype", "sizeof_expression", "noexcept",
        "throw_statement", "parameter_list", "field_declaration", "lambda_capture_specifier", "string_literal",
        "attribute_declaration", "comment", "alias_declaration", "bitfield_clause", "concept_definition"}
# Calls without which a program is slower, no more.
FOR_SPEED = {"reserve", "shrink_to_fit"}
CONSTANT_NAME = re.compile(rb"^k[A-Z]\w*$")
NUMBER = re.compile(rb"^(0[xX][0-9a-fA-F'.]+([pP][-+]?\d+)?|[0-9'.]+([eE][-+]?\d+)?)[uUlLfF]*$")
ZERO = re.compile(rb"^0[.0]*[uUlLfF]*$")


@dataclasses.dataclass
class Point:
    """A place in a source and what it may become: {variant: description}."""
    number: int
    file: str
    line: int
    last_line: int
    function: str
    text: str
    variants: dict
    ordinal: int = 0  # among points of the same function and text

    def key(self, variant):
        return f"{self.file} | {self.function} | {self.text} | {self.variants[variant]} | {self.ordinal}"

    def place(self):
        return f"{self.file} | {self.function} | {self.text} | {self.ordinal}"


class Rewriter:
    """One source. `dropped` holds the places that did not compile, `header` is mutation.h."""

    def __init__(self, file, source, first_number, dropped, header):
        self.file, self.source, self.dropped = file, source, dropped
        # Of a header it silences what its includers ask to be warned of.
        silence = "#pragma GCC system_header\n" if file.endswith(".h") else ""
        self.header = f'#include "{header}"\n{silence}#line 1\n'
        self.next_number = first_number
        self.points = []
        self.functions = []
        self.seen = collections.Counter()

    def run(self):
        text = self.emit(PARSER.parse(self.source).root_node)
        return self.header.encode() + text if self.points else self.source

    # Points

    def add_point(self, node, kind, variants):
        """The number of a new point at `node`, or None where it did not compile."""
        text = " ".join(self.source[node.start_byte:node.end_byte].decode().split())
        function = self.functions[-1]
        number = self.next_number
        self.next_number += 1
        point = Point(number, self.file, node.start_point[0] + 1, node.end_point[0] + 1, function, text, variants)
        identity = (function, text, kind)
        point.ordinal = self.seen[identity]
        self.seen[identity] += 1
        if f"{kind} | {point.place()}" in self.dropped:
            return None
        point.kind = kind
        self.points.append(point)
        return number

    # Text

    def raw(self, node):
        return self.source[node.start_byte:node.end_byte]

    def children(self, node, special=None):
        """The text of a node; `special` maps the ids of children to functions that emit them."""
        out, at = [], node.start_byte
        for child in node.children:
            out.append(self.source[at:child.start_byte])
            out.append((special or {}).get(child.id, self.emit)(child))
            at = child.end_byte
        out.append(self.source[at:node.end_byte])
        return b"".join(out)

    def emit(self, node):
        kind = node.type
        if kind in KEPT or kind.startswith("preproc_") and kind not in ("preproc_ifdef", "preproc_if"):
            return self.raw(node)
        if kind == "function_definition":
            return self.function(node)
        handler = getattr(self, f"at_{kind}", None)
        if handler is None or not self.functions:
            return self.children(node)
        return handler(node)

    def function(self, node):
        declarator = node.child_by_field_name("declarator")
        name = self.raw(declarator).split(b"(")[0].decode().split()[-1] if declarator else "?"
        name = name.lstrip("*&")
        parent = node.parent
        while parent is not None:
            if parent.type in ("class_specifier", "struct_specifier"):
                named = parent.child_by_field_name("name")
                if named is not None:
                    name = f"{self.raw(named).decode()}::{name}"
            parent = parent.parent
        special = {child.id: self.raw for child in node.children
                   if child.type not in ("compound_statement", "field_initializer_list", "try_statement")}
        self.functions.append(name)
        text = self.children(node, special)
        self.functions.pop()
        return text

    # Statements

    def at_declaration(self, node):
        words = {self.raw(child) for child in node.children
                 if child.type in ("type_qualifier", "storage_class_specifier")}
        return self.raw(node) if words & {b"constexpr", b"static", b"constinit"} else self.children(node)

    def at_optional_parameter_declaration(self, node):
        return self.raw(node)

    def at_case_statement(self, node):
        value = node.child_by_field_name("value")
        return self.children(node, {value.id: self.raw} if value is not None else None)

    def deletable(self, node):
        inner = node.named_children[0] if node.named_children else None
        if node.type in ("break_statement", "continue_statement"):
            return True
        if inner is None or inner.type not in ("call_expression", "assignment_expression", "update_expression"):
            return False
        if inner.type != "call_expression":
            return True
        called = self.raw(inner.child_by_field_name("function")).decode()
        return re.split(r"\.|->|::", called)[-1] not in FOR_SPEED

    def statement(self, node):
        if not self.deletable(node):
            return self.children(node)
        number = self.add_point(node, "statement", {1: "deleted"})
        text = self.children(node)
        if number is None:
            return text
        return b"{ if (!qsim_mutation::without<%d>()) " % number + text + b" }"

    at_expression_statement = at_break_statement = at_continue_statement = statement

    # Conditions

    def at_if_statement(self, node):
        condition = node.child_by_field_name("condition")
        if any(child.type == "constexpr" for child in node.children):
            return self.children(node, {condition.id: self.raw})
        return self.children(node, {condition.id: lambda clause: self.clause(clause, False)})

    def at_while_statement(self, node):
        condition = node.child_by_field_name("condition")
        return self.children(node, {condition.id: lambda clause: self.clause(clause, True)})

    def clause(self, clause, loop):
        value = clause.child_by_field_name("value")
        if value is None or value.type == "declaration":
            return self.children(clause)
        return self.children(clause, {value.id: lambda node: self.condition(node, loop)})

    def at_conditional_expression(self, node):
        condition = node.child_by_field_name("condition")
        return self.children(node, {condition.id: lambda inner: self.condition(inner, False)})

    def at_for_statement(self, node):
        update = node.child_by_field_name("update")
        return self.children(node, {update.id: self.raw} if update is not None else None)

    def condition(self, node, loop):
        if loop and node.type == "binary_expression" and self.sign(node) in OPPOSITE:
            return self.emit(node)
        number = self.add_point(node, "condition", {2: "false"} if loop else {1: "true", 2: "false"})
        text = self.raw(node) if node.type in ("true", "false") else self.emit_condition(node)
        if number is None:
            return text
        return b"qsim_mutation::condition<%d, %s>(" % (number, b"true" if loop else b"false") + text + b")"

    def emit_condition(self, node):
        if node.type == "binary_expression" and self.sign(node) in OPPOSITE:
            return self.compare(node, False)
        if node.type == "unary_expression" and self.sign(node) == "!":
            return self.children(node)
        return self.emit(node)

    # Expressions

    def sign(self, node):
        return self.raw(node.child_by_field_name("operator")).decode()

    def operands(self, node, kind, variants, written, others):
        """`others`: the names of the operators that stand for the variants."""
        number = self.add_point(node, kind, variants)
        left, right = (self.emit(node.child_by_field_name(side)) for side in ("left", "right"))
        if number is None:
            return self.between(node, left, right)
        names = b", ".join(b"qsim_mutation::" + name.encode() for name in [NAMES[written]] + others)
        names = names.replace(b"::Exact<", b"::Exact<qsim_mutation::")
        return b"qsim_mutation::Operands{" + left + b", " + self.gap(node) + right + b"}.template as<%d, " % number + \
            names + b">()"

    def gap(self, node):
        """The line breaks around an operator."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return b"\n" * self.source[left.end_byte:right.start_byte].count(b"\n")

    def between(self, node, left, right):
        return left + self.source[node.child_by_field_name("left").end_byte:
                                  node.child_by_field_name("right").start_byte] + right

    def compare(self, node, negate):
        sign = self.sign(node)
        others, variants = [], {}
        if sign in BOUNDARY:
            name = NAMES[BOUNDARY[sign]]
            literal = any(node.child_by_field_name(side).type == "number_literal" for side in ("left", "right"))
            others.append(name if literal else f"Exact<{name}>")
            variants[1] = BOUNDARY[sign]
        if negate:
            others.append(NAMES[OPPOSITE[sign]])
            variants[len(others)] = OPPOSITE[sign]
        if not others:
            return self.children(node)
        return self.operands(node, f"compare {sign}", variants, sign, others)

    def at_binary_expression(self, node):
        sign = self.sign(node)
        if sign in ("&&", "||"):
            return self.logical(node, sign)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if any("string" in side.type for side in (left, right)):
            return self.children(node)
        if sign in OPPOSITE:
            return self.compare(node, True)
        if sign in SWAPPED:
            return self.operands(node, f"operator {sign}", {1: SWAPPED[sign]}, sign, [NAMES[SWAPPED[sign]]])
        return self.children(node)

    def logical(self, node, sign):
        number = self.add_point(node, f"logical {sign}", {1: "only the right side", 2: "only the left side"})
        left, right = (self.emit(node.child_by_field_name(side)) for side in ("left", "right"))
        if number is not None:
            out, neutral = (b"(%s || ", b"true") if sign == "&&" else (b"(!%s && ", b"false")
            left, right = (out % (b"qsim_mutation::without_side<%d, %d>()" % (number, variant)) +
                           b"qsim_mutation::side<%d, %d, %s>(" % (number, variant, neutral) + side + b"))"
                           for variant, side in ((1, left), (2, right)))
            return b"(" + self.between(node, left, right) + b")"
        return self.between(node, left, right)

    def at_assignment_expression(self, node):
        sign = self.sign(node)
        if sign == "=" or sign[:-1] not in SWAPPED or "string" in node.child_by_field_name("right").type:
            return self.children(node)
        other = SWAPPED[sign[:-1]] + "="
        return self.operands(node, f"operator {sign}", {1: other}, sign, [NAMES[other]])

    def at_unary_expression(self, node):
        sign, argument = self.sign(node), node.child_by_field_name("argument")
        if sign not in UNARY:
            return self.children(node)
        if sign == "-" and argument.type == "number_literal":
            return self.constant(node)
        number = self.add_point(node, f"unary {sign}", {1: f"without {sign}"})
        text = self.emit(argument)
        if number is None:
            return sign.encode() + text
        return b"qsim_mutation::%s<%d>(" % (UNARY[sign].encode(), number) + text + b")"

    def at_number_literal(self, node):
        return self.constant(node) if NUMBER.match(self.raw(node)) else self.raw(node)

    def at_true(self, node):
        return self.constant(node)

    at_false = at_true

    def at_identifier(self, node):
        declared = node.parent.child_by_field_name("declarator")
        names_something = declared is not None and declared.id == node.id or node.parent.type == "template_function"
        return self.constant(node) if CONSTANT_NAME.match(self.raw(node)) and not names_something else self.raw(node)

    def at_qualified_identifier(self, node):
        name = self.raw(node.child_by_field_name("name")) if node.child_by_field_name("name") else b""
        return self.constant(node) if CONSTANT_NAME.match(name) else self.raw(node)

    def constant(self, node):
        number = self.add_point(node, "constant", {1: "+1", 2: "-1", 3: "*100", 4: "/100", 5: "zero", 6: "inverted"})
        text = self.raw(node)
        if number is None:
            return text
        zero = b"true" if ZERO.match(text) else b"false"
        return b"qsim_mutation::constant<%d, %s>(" % (number, zero) + text + b")"
