/** Zeros in front count for nothing, but nobody writes more of them. */
const maxLength = 1_024;
/** What has more digits is too large for 64 bits, and no number is made of it. */
const form = /^([+-]?)0*([0-9]{1,19})$/;

/** Whether a text is a decimal integer of so many bits, signed or not, as Go's ParseInt has it. */
export function fitsInteger(text: string, bits: 32 | 64): boolean {
  if (text.length > maxLength) return false;
  const [, sign, digits] = form.exec(text) ?? [];
  if (digits === undefined) return false;
  const value = BigInt(digits) * (sign === '-' ? -1n : 1n);
  return value === BigInt.asIntN(bits, value);
}
