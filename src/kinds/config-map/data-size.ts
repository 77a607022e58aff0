// The size of `data` as Kubernetes counts it: bytes of the values, without the keys.

/** The limit for ConfigMaps and Secrets. */
export const maxDataBytes = 1024 * 1024;

export function textBytes(values: readonly string[]): number {
  return values.reduce((sum, value) => sum + Buffer.byteLength(value, 'utf8'), 0);
}

/** Values are base64; their decoded length counts. A null value has length 0. */
export function base64Bytes(values: readonly (string | null)[]): number {
  return values.reduce((sum, value) => sum + Buffer.byteLength(value ?? '', 'base64'), 0);
}
