// The size of data as Kubernetes counts it: bytes of the values, without the keys.

/** Config maps and secrets alike may hold this much. */
export const maxDataBytes = 1024 * 1024;

export function textBytes(values: readonly string[]): number {
  return values.reduce((sum, value) => sum + Buffer.byteLength(value, 'utf8'), 0);
}

/** The values are base64; what counts is what they stand for. A value may be null, which is no bytes. */
export function base64Bytes(values: readonly (string | null)[]): number {
  return values.reduce((sum, value) => sum + Buffer.byteLength(value ?? '', 'base64'), 0);
}
