// Resource quantities: exact decimal numbers with a suffix. Each has one canonical form, which the server writes
// ("2000m" reads back as "2", "1024Mi" as "1Gi").

type Format = 'decimal' | 'exponent' | 'binary';

/** mantissa × 10^exponent; the format decides the suffix of the canonical form. */
export type Quantity = {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly format: Format;
};

const quantityFormatError =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const quantitySuffixError = "unable to parse quantity's suffix";

/** Exponents by suffix. */
export const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const decimalByExponent = new Map(Object.entries(decimalSuffixes).map(([s, e]) => [e, s]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Nano is the smallest unit; finer values round up, so that a small request never becomes 0. */
const finestExponent = -9;
const largestBinary = 2n ** 63n - 1n;

export function parseQuantity(text: string): Quantity | undefined {
  const read = readQuantity(text);
  return 'error' in read ? undefined : read;
}

/** The canonical form. */
export function canonicalQuantity(text: string): string | undefined {
  const quantity = parseQuantity(text);
  return quantity === undefined ? undefined : formatQuantity(quantity);
}

const milliExponent = -3;
/** Canonical forms of quantities below a thousandth always contain a suffix, an exponent or a point. */
const finerThanMilli = /[nueE.]/;

/** A canonical quantity in thousandths; finer values round away from zero. */
export function roundToMilli(text: string): string {
  if (!finerThanMilli.test(text)) return text;
  const quantity = parseQuantity(text);
  if (quantity === undefined || quantity.exponent >= milliExponent) return text;
  const { mantissa, exponent, format } = quantity;
  const divisor = 10n ** BigInt(milliExponent - exponent);
  const rest = mantissa % divisor;
  const away = rest === 0n ? 0n : mantissa < 0n ? -1n : 1n;
  return formatQuantity({ mantissa: mantissa / divisor + away, exponent: milliExponent, format });
}

/** Compares two quantities; invalid texts count as 0. */
export function compareQuantities(a: string, b: string): number {
  if (a === b) return 0;
  const left = parseQuantity(a) ?? zero;
  const right = parseQuantity(b) ?? zero;
  const sign = signOf(left.mantissa);
  if (sign !== signOf(right.mantissa)) return sign - signOf(right.mantissa) < 0 ? -1 : 1;
  // With different numbers of integer digits no multiplication is needed: exponents go up to 9999.
  const digits = integerDigits(left) - integerDigits(right);
  if (digits !== 0) return digits < 0 ? -sign : sign;
  const exponent = Math.min(left.exponent, right.exponent);
  return signOf(scaled(left, exponent) - scaled(right, exponent));
}

/** Spelled as the first is, or as the second where the first is zero; texts that are no quantities count as 0. */
export function addQuantities(a: string, b: string): string {
  const left = parseQuantity(a) ?? zero;
  const right = parseQuantity(b) ?? zero;
  if (left.mantissa === 0n) return formatQuantity(right);
  if (right.mantissa === 0n) return formatQuantity(left);
  const exponent = Math.min(left.exponent, right.exponent);
  const mantissa = scaled(left, exponent) + scaled(right, exponent);
  return formatQuantity({ mantissa, exponent, format: left.format });
}

const signOf = (value: bigint): number => (value < 0n ? -1 : value > 0n ? 1 : 0);

/** Number of integer digits; zero always gives the same. */
function integerDigits({ mantissa, exponent }: Quantity): number {
  if (mantissa === 0n) return 0;
  return `${mantissa < 0n ? -mantissa : mantissa}`.length + exponent;
}

/** As a floating-point number: very large quantities lose precision. */
export function quantityValue(text: string): number {
  const { mantissa, exponent } = parseQuantity(text) ?? zero;
  return Number(`${mantissa}e${exponent}`);
}

/**
 * Longer texts are rejected: arithmetic takes quadratic time in the digits. Canonical forms of accepted quantities,
 * which may be two digits and an exponent longer, are accepted as well.
 */
const maxLength = 300;
const maxSignificantDigits = 250;
const numberForm = /^([+-]?)([0-9]*)(?:\.([0-9]*))?/;
const suffixForm = /^[eEinumkKMGTP]*[-+]?[0-9]*$/;

/** The quantity, or Kubernetes' error message. */
export function readQuantity(text: string): Quantity | { readonly error: string } {
  if (text.length > maxLength) return { error: quantityFormatError };
  const match = numberForm.exec(text);
  const whole = match?.[2] ?? '';
  const fraction = match?.[3] ?? '';
  const ending = text.slice(match?.[0].length ?? 0);
  if (match === null || whole + fraction === '' || !suffixForm.test(ending)) {
    return { error: quantityFormatError };
  }
  const digits = whole + fraction;
  if (trimZeros(digits).length > maxSignificantDigits) return { error: quantityFormatError };
  const suffix = readSuffix(ending);
  if (suffix === undefined) return { error: quantitySuffixError };
  const unsigned = BigInt(digits) << BigInt(suffix.shift);
  const rounded = roundUp(unsigned, suffix.exponent - fraction.length);
  const capped = suffix.format === 'binary' ? capBinary(rounded) : rounded;
  return {
    mantissa: match[1] === '-' ? -capped.mantissa : capped.mantissa,
    exponent: capped.exponent,
    format: suffix.format,
  };
}

function formatQuantity({ mantissa, exponent, format }: Quantity): string {
  if (mantissa === 0n) return '0';
  if (format === 'binary') {
    const whole = wholeNumber(mantissa, exponent);
    if (whole !== undefined && (whole <= -1024n || whole >= 1024n)) return formatBinary(whole);
  }
  return formatDecimal(mantissa, exponent, format === 'exponent');
}

const zero: Quantity = { mantissa: 0n, exponent: 0, format: 'decimal' };

type Suffix = { readonly exponent: number; readonly shift: number; readonly format: Format };

function readSuffix(text: string): Suffix | undefined {
  const power = binarySuffixes.indexOf(text);
  if (power > 0) return { exponent: 0, shift: 10 * power, format: 'binary' };
  const exponent = Object.hasOwn(decimalSuffixes, text) ? decimalSuffixes[text] : undefined;
  if (exponent !== undefined) return { exponent, shift: 0, format: 'decimal' };
  const scientific = /^[eE]([+-]?[0-9]{1,4})$/.exec(text);
  if (scientific === null) return undefined;
  return { exponent: Number(scientific[1]), shift: 0, format: 'exponent' };
}

type Decimal = { readonly mantissa: bigint; readonly exponent: number };

function roundUp(mantissa: bigint, exponent: number): Decimal {
  if (exponent >= finestExponent) return { mantissa, exponent };
  const digits = finestExponent - exponent;
  // Less than one nano: the power is not computed.
  if (digits > maxLength) return { mantissa: mantissa > 0n ? 1n : 0n, exponent: finestExponent };
  const divisor = 10n ** BigInt(digits);
  return { mantissa: (mantissa + divisor - 1n) / divisor, exponent: finestExponent };
}

function capBinary(amount: Decimal): Decimal {
  const limit = scaled({ mantissa: largestBinary, exponent: 0 }, amount.exponent);
  return amount.mantissa > limit ? { mantissa: largestBinary, exponent: 0 } : amount;
}

/** The mantissa for another exponent, which must not be larger. */
function scaled({ mantissa, exponent }: Decimal, to: number): bigint {
  return mantissa * 10n ** BigInt(exponent - to);
}

function wholeNumber(mantissa: bigint, exponent: number): bigint | undefined {
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return mantissa % divisor === 0n ? mantissa / divisor : undefined;
}

function formatBinary(whole: bigint): string {
  let rest = whole;
  let power = 0;
  while (rest % 1024n === 0n && power < binarySuffixes.length - 1) {
    rest /= 1024n;
    power += 1;
  }
  return `${rest}${binarySuffixes[power]}`;
}

/** Removes trailing zeros while the exponent is a multiple of three. */
function formatDecimal(mantissa: bigint, exponent: number, scientific: boolean): string {
  const digits = `${mantissa}`;
  const zeros = digits.length - trimZeros(digits).length;
  const power = exponent + zeros;
  let rest = mantissa / 10n ** BigInt(zeros);
  const target = scientific ? floorToThree(power) : Math.min(18, floorToThree(power));
  rest *= 10n ** BigInt(power - target);
  if (scientific) return target === 0 ? `${rest}` : `${rest}e${target}`;
  return `${rest}${decimalByExponent.get(target) ?? ''}`;
}

function floorToThree(power: number): number {
  return Math.floor(power / 3) * 3;
}

function trimZeros(digits: string): string {
  let end = digits.length;
  while (digits.charAt(end - 1) === '0') end -= 1;
  return digits.slice(0, end);
}
