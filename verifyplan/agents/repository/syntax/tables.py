"""What the grammars call their definitions and imports, language by language, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from verifyplan.agents.repository.records import Kind


@dataclass(frozen=True)
class Table:
    """Types of nodes: `kinds` define something, `opens` hold definitions under a name of theirs without defining it.

    `local` are the kinds that are read inside functions, too. `enters` are the nodes that may hold definitions
    (empty: all of them). `imports` are nodes that import.
    """

    kinds: Mapping[str, Kind]
    imports: frozenset[str]
    enters: frozenset[str] = frozenset()
    opens: Mapping[str, str] = field(default_factory=dict)


def _nodes(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SCRIPT_KINDS: dict[str, Kind] = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "method",
    "variable_declarator": "variable",
    "field_definition": "field",
    "pair": "field",
    "assignment_expression": "variable",
}
_TYPED_KINDS: dict[str, Kind] = _SCRIPT_KINDS | {
    "function_signature": "function",
    "abstract_class_declaration": "class",
    "interface_declaration": "type",
    "type_alias_declaration": "type",
    "enum_declaration": "type",
    "internal_module": "module",
    "module": "module",
    "method_signature": "method",
    "abstract_method_signature": "method",
    "property_signature": "field",
    "public_field_definition": "field",
    "enum_assignment": "constant",
    "enum_body": "constant",
}
_SCRIPT_IMPORTS = _nodes("import_statement export_statement call_expression")

TABLES: dict[str, Table] = {
    "python": Table(
        kinds={
            "function_definition": "function",
            "class_definition": "class",
            "assignment": "variable",
            "type_alias_statement": "type",
        },
        imports=_nodes("import_statement import_from_statement"),
        enters=_nodes(
            "module block function_definition class_definition decorated_definition expression_statement if_statement"
            " elif_clause else_clause try_statement except_clause except_group_clause finally_clause with_statement"
            " for_statement while_statement match_statement case_clause ERROR"
        ),
    ),
    "javascript": Table(kinds=_SCRIPT_KINDS, imports=_SCRIPT_IMPORTS),
    "typescript": Table(kinds=_TYPED_KINDS, imports=_SCRIPT_IMPORTS),
    "go": Table(
        kinds={
            "function_declaration": "function",
            "method_declaration": "method",
            "method_elem": "method",
            "type_spec": "type",
            "type_alias": "type",
            "const_spec": "constant",
            "var_spec": "variable",
            "field_declaration": "field",
        },
        imports=_nodes("import_spec"),
        enters=_nodes(
            "source_file type_declaration const_declaration var_declaration var_spec_list type_spec struct_type"
            " interface_type field_declaration_list import_declaration import_spec_list ERROR"
        ),
    ),
    "rust": Table(
        kinds={
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "class",
            "enum_item": "class",
            "union_item": "class",
            "trait_item": "type",
            "type_item": "type",
            "associated_type": "type",
            "const_item": "constant",
            "static_item": "constant",
            "mod_item": "module",
            "macro_definition": "macro",
            "field_declaration": "field",
            "enum_variant": "constant",
        },
        imports=_nodes("use_declaration mod_item"),
        enters=_nodes(
            "source_file mod_item declaration_list impl_item trait_item struct_item enum_item union_item"
            " field_declaration_list enum_variant_list function_item block foreign_mod_item ERROR"
        ),
        opens={"impl_item": "type"},
    ),
    "java": Table(
        kinds={
            "class_declaration": "class",
            "record_declaration": "class",
            "interface_declaration": "type",
            "annotation_type_declaration": "type",
            "enum_declaration": "type",
            "enum_constant": "constant",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "compact_constructor_declaration": "method",
            "annotation_type_element_declaration": "method",
            "field_declaration": "field",
            "constant_declaration": "constant",
        },
        imports=_nodes("import_declaration"),
        enters=_nodes(
            "program class_declaration record_declaration interface_declaration annotation_type_declaration"
            " enum_declaration class_body interface_body annotation_type_body enum_body enum_body_declarations ERROR"
        ),
    ),
}
"""The tables by language; `tsx` is read by that of TypeScript."""
