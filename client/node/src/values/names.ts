// How names of operators decide about the types of inputs, attributes and outputs.

import type { AttributeValue } from './attribute_value.js';
import type { Operators } from '../generated/catalogue.js';

/** The name of an operator of this version. */
export type OperatorName = keyof Operators<never>;

/** The name of any operator: of one that this version does not know, inputs, attributes and outputs have any names. */
export type AnyOperatorName = OperatorName | (string & {});

/** An operator's inputs by name, each a T. */
export type InputsOf<Name, T> = Name extends OperatorName
  ? Operators<T>[Name]['inputs']
  : Readonly<Record<string, T | undefined>>;

/** An operator's attributes by name. */
export type AttributesOf<Name> = Name extends OperatorName
  ? Operators<never>[Name]['attributes']
  : Readonly<Record<string, AttributeValue | undefined>>;

/** The names of an operator's outputs. */
export type OutputNameOf<Name> = Name extends OperatorName ? Operators<never>[Name]['outputs'] : string;

/** An operator's outputs by name, each a T. One that was masked out has the shape [0]. */
export type OutputsOf<Name, T> = { readonly [Output in OutputNameOf<Name>]: T };

/** The arguments behind the inputs: attributes, which may be left out where all of them have a default, and options. */
export type Rest<Name, Options> =
  Record<never, never> extends AttributesOf<Name>
    ? [attributes?: AttributesOf<Name>, options?: Options]
    : [attributes: AttributesOf<Name>, options?: Options];
