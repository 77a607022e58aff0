// Validates annotations: keys are qualified names in any case, and all together have a size limit.
import { type FieldError, invalid, tooLong } from './field-error.ts';
import { qualifiedName } from './names.ts';

type Annotations = Readonly<Record<string, string>>;

const totalBytesLimit = 256 * 1024;

export function validateAnnotations(
  annotations: Annotations | undefined,
  field: string,
): FieldError[] {
  if (annotations === undefined) return [];
  const errors = Object.keys(annotations).flatMap((key) =>
    qualifiedName(key.toLowerCase()).map((text) => invalid(field, key, text)),
  );
  if (totalBytes(annotations) > totalBytesLimit) errors.push(tooLong(field, totalBytesLimit));
  return errors;
}

function totalBytes(annotations: Annotations): number {
  let total = 0;
  for (const key in annotations) {
    total += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? '');
  }
  return total;
}
