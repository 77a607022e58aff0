// IntOrString values: target ports, and numbers that may be percentages.

export type IntOrString = number | string;

export function isPercent(text: string): boolean {
  return /^[0-9]+%$/.test(text);
}

/** A number unchanged; a percentage of the total, rounded up or down. Other texts count as 0. */
export function scaledValue(value: IntOrString, total: number, roundUp: boolean): number {
  if (typeof value === 'number') return value;
  if (!isPercent(value)) return 0;
  const share = (Number.parseInt(value, 10) * total) / 100;
  return roundUp ? Math.ceil(share) : Math.floor(share);
}
