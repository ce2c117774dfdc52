"""TypeScript: the types of every operator's inputs, attributes and outputs, by its name. They are types alone: nothing of them runs."""

LANGUAGE = "node"
PATH = "src/generated/catalogue.ts"
WIDTH = 120

HEADER = """\
// Made by client/catalogue/generate.py: what each operator takes and gives. T is what stands for a tensor.

/** The operators of this version by name. */
export interface Operators<T> {
"""

NUMBER_TYPES = {
    "int": "number | bigint",
    "float": "number",
    "bool": "boolean",
    "list of ints": "readonly number[] | readonly bigint[]",
    "list of bools": "readonly boolean[]",
    "scalar": "number | bigint | boolean",
}


def comment(indent, text):
    """A documentation comment, on one line where it fits."""
    lines = text.replace("*/", "* /").split("\n")
    if len(lines) == 1 and len(indent) + len(lines[0]) + len("/**  */") <= WIDTH:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]


def literal(value):
    """A default as TypeScript writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def default_text(attribute):
    names = {choice["value"]: f"'{choice['name']}'" for choice in attribute.get("choices", [])}
    default = attribute["default"]
    return names.get(default, literal(default)) if not isinstance(default, list) else literal(default)


def attribute_type(attribute):
    choices = attribute.get("choices")
    return " | ".join(f"'{choice['name']}'" for choice in choices) if choices else NUMBER_TYPES[attribute["kind"]]


def attribute_lines(attribute):
    summary = attribute["summary"]
    if attribute["required"]:
        return comment("      ", summary) + [f"      {attribute['name']}: {attribute_type(attribute)};"]
    summary += f"; {default_text(attribute)} unless given"
    return comment("      ", summary) + [f"      {attribute['name']}?: {attribute_type(attribute)} | undefined;"]


def input_lines(row):
    optional = ("?", " | undefined") if row["optional"] else ("", "")
    described = comment("      ", f"{row['summary']}; {row['shape']}; {', '.join(row['dtypes'])}")
    return described + [f"      {row['name']}{optional[0]}: T{optional[1]};"]


def members(name, groups):
    """A member that is a type of members."""
    lines = [line for group in groups for line in group]
    return [f"    {name}: {{", *lines, "    };"] if lines else [f"    {name}: Record<never, never>;"]


def operator_lines(operator):
    outputs = " | ".join(f"'{row['name']}'" for row in operator["outputs"])
    return [
        *comment("  ", f"{operator['summary']}\n\n{operator['description']}"),
        f"  {operator['name']}: {{",
        *members("inputs", map(input_lines, operator["inputs"])),
        *members("attributes", map(attribute_lines, operator["attributes"])),
        f"    outputs: {outputs};",
        "  };",
    ]


def render(operators):
    lines = [line for operator in operators for line in operator_lines(operator)]
    return {PATH: HEADER + "\n".join(lines) + "\n}\n"}
