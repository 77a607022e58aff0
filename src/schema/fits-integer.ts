/** Leading zeros do not count; more of them do not occur. */
const maxLength = 1_024;
/** More digits exceed 64 bits; they are not converted. */
const form = /^([+-]?)0*([0-9]{1,19})$/;

/** Whether Go's ParseInt accepts the text as an integer of this many bits. */
export function fitsInteger(text: string, bits: 32 | 64): boolean {
  if (text.length > maxLength) return false;
  const [, sign, digits] = form.exec(text) ?? [];
  if (digits === undefined) return false;
  const value = BigInt(digits) * (sign === '-' ? -1n : 1n);
  return value === BigInt.asIntN(bits, value);
}
