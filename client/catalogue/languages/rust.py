"""Rust: a type of each operator, in client/rust/src/operators/catalogue.rs."""

import collections
import re

LANGUAGE = "rust"
HEAD = """\
// Written by client/catalogue/generate.py.
#![allow(clippy::too_many_arguments)]

use super::operator;
use crate::attribute::Attribute;
use crate::call::Call;
use crate::tensor::Tensor;
"""
TYPES = {"int": "i64", "float": "f64", "bool": "bool", "scalar": "impl Into<Attribute>"}
LISTS = {"list of ints": "i64", "list of bools": "bool"}
KEYWORDS = {"self": "self_"}
# Attributes whose choices have no name of their own: `Dtype` beside `DType` would confuse.
WITHOUT_OWN_NAME = {"dtype"}


def pascal(name):
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[ _]", name))


def identifier(name):
    return KEYWORDS.get(name, name.lower())


def variant(choice):
    name = pascal(choice["name"])
    return "SelfDtype" if name == "Self" else name


def sentence(text):
    """A line of documentation, without what rustdoc would take for its own."""
    text = re.sub(r"([\[\]<>*`])", r"\\\1", text.strip())
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def choices_of(attribute):
    return tuple((choice["value"], choice["name"]) for choice in attribute["choices"])


def names_of_choices(operators):
    """The names of the enums, by the attribute's name and choices: the most common ones have the attribute's."""
    users = collections.defaultdict(list)
    for operator in operators:
        for attribute in operator["attributes"]:
            if "choices" in attribute:
                users[attribute["name"], choices_of(attribute)].append(operator["name"])
    most = {}
    for (name, choices), of in users.items():
        if name not in WITHOUT_OWN_NAME and len(of) > len(users.get((name, most.get(name)), [])):
            most[name] = choices
    return {(name, choices): ("" if most.get(name) == choices else of[0]) + pascal(name) for (name, choices), of in users.items()}


def enum(name, attribute):
    lines = [f"/// {sentence(attribute['summary'])}", "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]", f"pub enum {name} {{"]
    for choice in attribute["choices"]:
        lines += [f"    /// {sentence(choice['summary'] or choice['name'])}", f"    {variant(choice)} = {choice['value']},"]
    lines += ["}", "", f"impl From<{name}> for Attribute {{", f"    fn from(value: {name}) -> Self {{",
              "        Self::Int(value as i64)", "    }", "}", ""]
    return lines


def type_of(attribute, enums):
    if "choices" in attribute:
        return enums[attribute["name"], choices_of(attribute)]
    if attribute["kind"] in TYPES:
        return TYPES[attribute["kind"]]
    element, length = LISTS[attribute["kind"]], attribute.get("list_length")
    return f"[{element}; {length}]" if length else f"impl Into<Vec<{element}>>"


def setting(attribute):
    """The call that sets an attribute."""
    value = identifier(attribute["name"])
    if attribute["kind"] in LISTS and not attribute.get("list_length"):
        value = f"Attribute::{'Ints' if LISTS[attribute['kind']] == 'i64' else 'Bools'}({value}.into())"
    return f'.attribute("{attribute["name"]}", {value})'


def default_of(attribute):
    value = attribute.get("default")
    named = [choice["name"] for choice in attribute.get("choices", []) if choice["value"] == value]
    if isinstance(value, bool) or isinstance(value, list):
        return str(value).lower()
    return named[0] if named else str(value)


def constructor(operator, enums):
    inputs = [entry for entry in operator["inputs"] if not entry["optional"]]
    attributes = [entry for entry in operator["attributes"] if entry["required"]]
    parameters = [f"{identifier(entry['name'])}: impl Into<T>" for entry in inputs]
    parameters += [f"{identifier(entry['name'])}: {type_of(entry, enums)}" for entry in attributes]
    calls = [f'.input("{entry["name"]}", {identifier(entry["name"])})' for entry in inputs] + list(map(setting, attributes))
    lines = [f"    /// {operator['name']} of what it needs:", "    ///"]
    lines += [f"    /// - `{identifier(entry['name'])}`: {sentence(entry['summary'])}" for entry in inputs + attributes]
    lines += [f"    pub fn new({', '.join(parameters)}) -> Self {{", f'        Self(Call::new("{operator["name"]}"){"".join(calls)})',
              "    }"]
    return lines


def methods(operator, enums):
    lines = []
    for entry in operator["inputs"]:
        if entry["optional"]:
            name = identifier(entry["name"])
            lines += ["", f"    /// {sentence(entry['summary'])}", f"    pub fn {name}(self, {name}: impl Into<T>) -> Self {{",
                      f'        Self(self.0.input("{entry["name"]}", {name}))', "    }"]
    for entry in operator["attributes"]:
        if not entry["required"]:
            name = identifier(entry["name"])
            lines += ["", f"    /// {sentence(entry['summary'])} Default: {default_of(entry)}.",
                      f"    pub fn {name}(self, {name}: {type_of(entry, enums)}) -> Self {{",
                      f"        Self(self.0{setting(entry)})", "    }"]
    return lines


def outputs(operator):
    """The struct of an operator with several outputs, and what makes an Operator of the type."""
    name, names = operator["name"], [entry["name"] for entry in operator["outputs"]]
    if len(names) == 1:
        return [f'operator!({name}, "{names[0]}");', ""]
    lines = [f"/// What [`{name}`] gives.", "#[derive(Clone, Debug)]", f"pub struct {name}Outputs<T = Tensor> {{"]
    for entry in operator["outputs"]:
        masked = " Of shape \\[0\\] where it was not asked for." if entry["optional"] else ""
        lines += [f"    /// {sentence(entry['summary'])}{masked}", f"    pub {entry['name']}: T,"]
    return lines + ["}", "", f"operator!({name}, {name}Outputs {{ {', '.join(names)} }});", ""]


def operator_type(operator, enums):
    lines = [f"/// {sentence(operator['summary'])}", "///", "/// ```text"]
    lines += [f"/// {line}".rstrip() for line in operator["description"].splitlines()]
    lines += ["/// ```", "#[derive(Clone, Debug)]", '#[must_use = "an operator does nothing until it is applied"]',
              f"pub struct {operator['name']}<T = Tensor>(Call<T>);", "", f"impl<T> {operator['name']}<T> {{"]
    return lines + constructor(operator, enums) + methods(operator, enums) + ["}", ""] + outputs(operator)


def render(operators):
    enums = names_of_choices(operators)
    lines, made = [HEAD], set()
    for operator in operators:
        for attribute in operator["attributes"]:
            key = (attribute["name"], choices_of(attribute)) if "choices" in attribute else None
            if key and key not in made:
                made.add(key)
                lines += enum(enums[key], attribute)
    for operator in operators:
        lines += operator_type(operator, enums)
    return {"src/operators/catalogue.rs": "\n".join(lines)}
