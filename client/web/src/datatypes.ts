// Element types as the Open Inference Protocol names them.

import type { DType } from '../../node/src/values/dtypes.js';

const NAMES: Readonly<Record<DType, string>> = {
  float32: 'FP32',
  float16: 'FP16',
  bfloat16: 'BF16',
  float64: 'FP64',
  int8: 'INT8',
  int16: 'INT16',
  int32: 'INT32',
  int64: 'INT64',
  uint8: 'UINT8',
  uint16: 'UINT16',
  uint32: 'UINT32',
  uint64: 'UINT64',
  bool: 'BOOL',
};

const DTYPES = new Map(Object.entries(NAMES).map(([dtype, name]) => [name, dtype as DType]));

/** The protocol's name of a dtype. */
export function datatypeOf(dtype: DType): string {
  return NAMES[dtype];
}

/** The dtype of the protocol's name; undefined for one that this version does not know. */
export function dtypeOf(name: string): DType | undefined {
  return DTYPES.get(name);
}
