// The protocol's numbers of element types.

import { DataType } from './generated/opserve/v1/types_pb.js';
import { DTYPES } from './values/dtypes.js';
import type { DType } from './values/dtypes.js';

type Name = keyof typeof DataType;

const DATA_TYPES = new Map(DTYPES.map((dtype) => [dtype, DataType[dtype.toUpperCase() as Name]]));
const NAMES = new Map([...DATA_TYPES].map(([dtype, dataType]) => [dataType, dtype]));

/** The protocol's number of a dtype. TypeError for a name that is none. */
export function dataTypeOf(dtype: DType): DataType {
  const found = DATA_TYPES.get(dtype);
  if (found === undefined) throw new TypeError(`dtype: want one of ${DTYPES.join(', ')}, got ${String(dtype)}`);
  return found;
}

/** The dtype of the protocol's number; undefined for one that this version does not know. */
export function dtypeOf(dataType: DataType): DType | undefined {
  return NAMES.get(dataType);
}
