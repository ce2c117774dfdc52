// What an attribute may be.

/**
 * The value of an attribute. A whole `number` and a `bigint` are an int, which servers take where they want a float; a string is the
 * name of a choice.
 */
export type AttributeValue =
  | number
  | bigint
  | boolean
  | string
  | readonly number[]
  | readonly bigint[]
  | readonly boolean[]
  | Int32Array
  | BigInt64Array
  | Float32Array
  | Float64Array;
