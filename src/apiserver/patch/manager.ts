// The field manager of a write.
import { type FieldError, forbidden, invalid, required, tooLong } from '../../meta/field-error.ts';

/** Longer names would make managedFields heavier than the object. */
const maxManagerLength = 128;

/** Go's unicode.IsPrint. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Names without unprintable characters; nearly all are. */
const plain = /^[ -~]{0,128}$/;

/** The program's name in its User-Agent: the part before the first slash. */
export function managerFromUserAgent(userAgent: string): string {
  const slash = userAgent.indexOf('/');
  const program = slash < 0 ? userAgent : userAgent.slice(0, slash);
  if (plain.test(program)) return program;
  let name = '';
  for (const char of program) {
    if (!printable.test(char)) continue;
    if (Buffer.byteLength(name) + Buffer.byteLength(char) > maxManagerLength) break;
    name += char;
  }
  return name;
}

export type ManagerRules = {
  /** Whether the request says `force` at all. */
  readonly forceGiven: boolean;
  readonly isPatch: boolean;
};

export function validateFieldManager(
  fieldManager: string,
  isApply: boolean,
  { forceGiven, isPatch }: ManagerRules,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (isPatch && !isApply && forceGiven) {
    errors.push(forbidden('force', 'may not be specified for non-apply patch'));
  }
  if (isApply && fieldManager === '') {
    errors.push(required('fieldManager', 'is required for apply patch'));
  }
  if (Buffer.byteLength(fieldManager) > maxManagerLength) {
    errors.push(tooLong('fieldManager', maxManagerLength));
  }
  return plain.test(fieldManager) ? errors : [...errors, ...unprintable(fieldManager)];
}

function unprintable(fieldManager: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  let position = 0;
  for (const char of fieldManager) {
    if (!printable.test(char)) {
      const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      const detail = `invalid character U+${code} (at position ${position})`;
      errors.push(invalid('fieldManager', fieldManager, detail));
    }
    position += Buffer.byteLength(char);
  }
  return errors;
}
