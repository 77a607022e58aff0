// Which failures of a request cannot heal by repeating it.
import { isApiError } from '../meta/api-error.ts';

/**
 * The server understood the request and will refuse the same one for ever. Not among them: 401 and 403, which heal when credentials are renewed
 * or rights are granted; 408, 409, 425 and 429, which ask for another attempt.
 */
const permanentCodes: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 413, 414, 415, 422]);

export function isPermanentRefusal(error: unknown): boolean {
  return isApiError(error) && permanentCodes.has(error.status.code);
}

/** A write that named the uid of its object was refused because another object has the name now. */
export function isOtherObject(error: unknown): boolean {
  if (!isApiError(error) || error.status.code !== 422) return false;
  return error.status.details?.causes?.some(({ field }) => field === 'metadata.uid') === true;
}
