"""The operators as typed calls in Java: a class for each family, with a function for each operator that takes what the operator
requires. What may be left out is set on the call that it returns."""

import html
import re
import textwrap

LANGUAGE = "java"
FOLDER = "client/src/main/java/dev/opserve/ops"
TYPES = {"int": "long", "float": "double", "scalar": "double", "bool": "boolean", "list of ints": "long...", "list of bools": "boolean..."}
DTYPES = {"float32", "float16", "bfloat16", "float64"}
WIDTH = 128
WRITTEN = "// Written by client/catalogue/generate.py; changes are lost.\n"


def camel(name):
    """grad_out as gradOut, HxW as hxW."""
    first, *rest = name.split("_")
    return first[0].lower() + first[1:] + "".join(word[0].upper() + word[1:] for word in rest)


def upper_camel(name):
    return "".join(word[0].upper() + word[1:] for word in re.split(r"[_ ]", name))


def text_of(text):
    """Words in a comment of javadoc."""
    escaped = html.escape(text, quote=False).replace("\\", "&#92;").replace("@", "&#64;").replace("*/", "*&#47;")
    return escaped.replace("{", "&#123;").replace("}", "&#125;")


def comment(paragraphs, tags, indent):
    """A comment of javadoc."""
    margin = " " * indent
    lines = []
    for number, paragraph in enumerate(paragraphs):
        if number:
            lines.append("")
        words = paragraph if paragraph.startswith("<pre>") else textwrap.fill(paragraph, WIDTH - indent - 3)
        lines += words.split("\n")
    if tags:
        lines.append("")
    for tag in tags:
        lines += textwrap.wrap(tag, WIDTH - indent - 3, subsequent_indent="    ")
    if len(lines) == 1:
        return f"{margin}/** {lines[0]} */\n"
    body = "".join(f"{margin} * {line}".rstrip() + "\n" for line in lines)
    return f"{margin}/**\n{body}{margin} */\n"


def enum_of(attribute):
    """The enum of an attribute whose values have names; None for one without, or whose names are dtypes."""
    names = {choice["name"] for choice in attribute.get("choices", [])}
    return upper_camel(attribute["name"]) if names and not names <= DTYPES | {"self"} else None


def type_of(attribute):
    if attribute.get("choices"):
        return enum_of(attribute) or "DataType"
    return TYPES[attribute["kind"]]


def value_of(attribute):
    """The argument as Call.attribute() takes it."""
    name = camel(attribute["name"])
    if enum_of(attribute):
        return f"{name}.choice()"
    return f"{name}.toString()" if attribute.get("choices") else name


def summary_of(attribute):
    text = attribute["summary"]
    if enum_of(attribute):
        text += ": " + ", ".join(choice["name"].upper() for choice in attribute["choices"])
    if not attribute["required"]:
        default = attribute["default"]
        named = {choice["value"]: choice["name"] for choice in attribute.get("choices", [])}
        shown = named[default] if named else str(default).lower()
        text += f"; {shown.upper() if enum_of(attribute) else shown} unless set"
    return text_of(text)


def setter(owner, name, java_type, summary, statement):
    tags = [f"@param {name} {summary}", "@return this"]
    doc = comment([f"Sets {name}."], tags, 4)
    return f"{doc}    public {owner} {name}({java_type} {name}) {{\n      {statement};\n      return this;\n    }}\n"


def setters(operator):
    """The setters of what an operator does not require."""
    owner, made = operator["name"], []
    for tensor in operator["inputs"]:
        if tensor["optional"]:
            name = camel(tensor["name"])
            made.append(setter(owner, name, "Input", text_of(tensor["summary"]), f'input("{tensor["name"]}", {name})'))
    for attribute in operator["attributes"]:
        if not attribute["required"]:
            name, statement = camel(attribute["name"]), f'attribute("{attribute["name"]}", {value_of(attribute)})'
            made.append(setter(owner, name, type_of(attribute), summary_of(attribute), statement))
            if attribute["kind"] == "scalar":
                made.append(setter(owner, name, "long", summary_of(attribute), statement))
    return made


def required(operator):
    """The function's parameters: (type, name, summary, statement)."""
    inputs = [("Input", camel(tensor["name"]), text_of(tensor["summary"]), f'input("{tensor["name"]}", {camel(tensor["name"])})')
              for tensor in operator["inputs"] if not tensor["optional"]]
    attributes = [(type_of(attribute).replace("...", "[]"), camel(attribute["name"]), summary_of(attribute),
                   f'attribute("{attribute["name"]}", {value_of(attribute)})')
                  for attribute in operator["attributes"] if attribute["required"]]
    return inputs + attributes


def outputs_of(operator):
    return "Outputs: " + "; ".join(f"{{@code {tensor['name']}}}, {text_of(tensor['summary'])}" for tensor in operator["outputs"]) + "."


def function(operator, owner):
    """The function that makes a call of an operator."""
    parameters = required(operator)
    listed = ", ".join(f"{java_type} {name}" for java_type, name, _, _ in parameters)
    head = f"  public static {owner} {camel(operator['name'])}({listed}) {{\n"
    if len(head) > WIDTH + 1:
        whole = ", ".join(f"{java_type}\0{name}" for java_type, name, _, _ in parameters)
        lines = textwrap.indent(textwrap.fill(whole, WIDTH - 9).replace("\0", " "), " " * 6)
        head = f"  public static {owner} {camel(operator['name'])}(\n{lines}) {{\n"
    made = f"new {owner}()" if owner != "Call" else f'Call.of("{operator["name"]}")'
    body = f"    {owner} call = {made};\n" + "".join(f"    call.{statement};\n" for *_, statement in parameters) + "    return call;\n"
    mathematics = "\n".join(textwrap.fill(text_of(line), WIDTH - 5, subsequent_indent="    ")
                            for line in operator["description"].split("\n"))
    paragraphs = [text_of(operator["summary"]), f"<pre>\n{mathematics}\n</pre>", outputs_of(operator)]
    tags = [f"@param {name} {summary}" for _, name, summary, _ in parameters] + ["@return the call"]
    return f"{comment(paragraphs, tags, 2)}{head}{body}  }}\n"


def call_class(operator, methods):
    """The class of an operator's calls."""
    name = operator["name"]
    doc = comment([f"A call of {name}."], [], 2)
    constructor = f'    private {name}() {{\n      super("{name}");\n    }}\n'
    return f"{doc}  public static final class {name} extends Call {{\n" + "\n".join([constructor, *methods]) + "  }\n"


def family_class(family, operators):
    """The file of a family."""
    parts = []
    for operator in operators:
        methods = setters(operator)
        parts.append(function(operator, operator["name"] if methods else "Call"))
        if methods:
            parts.append(call_class(operator, methods))
    name = upper_camel(family)
    body = "\n".join([f"  private {name}() {{}}\n", *parts])
    imports = [f"import dev.opserve.{kind};\n" for kind in ("Call", "DataType", "Input") if re.search(rf"\b{kind}\b", body)]
    doc = comment([f"{family}: a function for each operator. What is not required is set on what it returns."], [], 0)
    return f"{WRITTEN}package dev.opserve.ops;\n\n{''.join(imports)}\n{doc}public final class {name} {{\n{body}}}\n"


def enum_file(name, attribute, choices):
    doc = comment([f"Values of the attribute {attribute}."], [], 0)
    values = ",\n".join(comment([text_of(summary[0].upper() + summary[1:] + ".")], [], 2) + f"  {choice.upper()}"
                        for choice, summary in choices.items())
    method = "  String choice() {\n    return name().toLowerCase(Locale.ROOT);\n  }\n"
    return f"{WRITTEN}package dev.opserve.ops;\n\nimport java.util.Locale;\n\n{doc}public enum {name} {{\n{values};\n\n{method}}}\n"


def package_file(families):
    doc = comment(["A typed call for each operator of the catalogue, by families: " + ", ".join(f"{{@link {upper_camel(family)}}}"
                                                                                             for family in families) + "."], [], 0)
    return f"{WRITTEN}{doc}package dev.opserve.ops;\n"


def render(operators):
    """The texts of the files by their paths below client/java."""
    families, enums = {}, {}
    for operator in operators:
        families.setdefault(operator["family"], []).append(operator)
        for attribute in operator["attributes"]:
            if enum_of(attribute):
                known = enums.setdefault(enum_of(attribute), (attribute["name"], {}))[1]
                for choice in attribute["choices"]:
                    known.setdefault(choice["name"], choice["summary"])
    files = {f"{FOLDER}/package-info.java": package_file(families)}
    files.update({f"{FOLDER}/{upper_camel(family)}.java": family_class(family, members) for family, members in families.items()})
    files.update({f"{FOLDER}/{name}.java": enum_file(name, attribute, choices) for name, (attribute, choices) in enums.items()})
    return files
