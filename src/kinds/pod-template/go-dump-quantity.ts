// A quantity in Go's representation: an integer with a decimal scale, its format, and sometimes the original text.
// Upstream: ParseQuantity() of k8s.io/apimachinery/pkg/api/resource.

import { decimalSuffixes } from '../../schema/quantity.ts';

const binaryPowers: Readonly<Record<string, number>> = {
  Ki: 10,
  Mi: 20,
  Gi: 30,
  Ti: 40,
  Pi: 50,
  Ei: 60,
};

type Parsed = {
  readonly value: bigint;
  readonly scale: number;
  readonly format: string;
  readonly keepsText: boolean;
};

/** Expects the canonical form, which is what is stored. */
export function dumpQuantity(text: string): string {
  const { value, scale, format, keepsText } = parse(text);
  return [
    `{i:(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`,
    'd:(resource.infDecAmount){Dec:(*inf.Dec)<nil>}',
    `s:(string)${keepsText ? text : ''}`,
    `Format:(resource.Format)${format}}`,
  ].join(' ');
}

function parse(text: string): Parsed {
  if (text === '0') return { value: 0n, scale: 0, format: '', keepsText: true };
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?/.exec(text);
  const [number = '', sign = '', whole = '', fraction = ''] = match ?? [];
  const suffix = text.slice(number.length);
  const digits = whole.replace(/^0+/, '') + fraction;
  const unsigned = BigInt(digits === '' ? '0' : digits);
  const signed = (quantity: bigint): bigint => (sign === '-' ? -quantity : quantity);
  const power = binaryPowers[suffix];
  if (power !== undefined) {
    return {
      value: signed(unsigned << BigInt(power)),
      scale: 0,
      format: 'BinarySI',
      keepsText: (unsigned & 7n) !== 0n,
    };
  }
  const exponent = /^[eE]([+-]?[0-9]+)$/.exec(suffix)?.[1];
  const scale = (decimalSuffixes[suffix] ?? Number(exponent ?? 0)) - fraction.length;
  return {
    value: signed(unsigned),
    scale,
    format: exponent === undefined ? 'DecimalSI' : 'DecimalExponent',
    keepsText: scale % 3 === 0 && !digits.endsWith('000') && digits !== '' && digits[0] !== '0',
  };
}
