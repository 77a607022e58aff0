// Values that are a number or a string: target ports, and amounts that may be a percentage.

export type IntOrString = number | string;

export function isPercent(text: string): boolean {
  return /^[0-9]+%$/.test(text);
}

/** A number as it is; a percentage as its share of the total, rounded up or down. Other strings count as 0. */
export function scaledValue(value: IntOrString, total: number, roundUp: boolean): number {
  if (typeof value === 'number') return value;
  if (!isPercent(value)) return 0;
  const share = (Number.parseInt(value, 10) * total) / 100;
  return roundUp ? Math.ceil(share) : Math.floor(share);
}
