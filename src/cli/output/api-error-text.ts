// Formats API errors with kubectl's messages, which users search for.
import type { ApiError } from '../../meta/api-error.ts';

/** `during` is the attempted action, such as `error when creating "STDIN"`. */
export function apiErrorText(error: ApiError, during?: string): string {
  const hint = error.hint === undefined ? '' : `\n${error.hint}`;
  const { reason, code, details } = error.status;
  if (reason === 'Invalid' && details?.kind !== undefined) return invalidText(error) + hint;
  const what = during === undefined ? error.message : `${during}: ${error.message}`;
  return `Error from server${reason === undefined || reason === '' ? ` (${code})` : ` (${reason})`}: ${what}${hint}`;
}

function invalidText({ status, message }: ApiError): string {
  const { details } = status;
  const causes = (details?.causes ?? []).map(({ field, message: why }) =>
    field ? `${field}: ${why ?? ''}` : (why ?? ''),
  );
  if (causes.length === 0) return `The ${message}`;
  const subject = details?.name ? `${details.kind} "${details.name}"` : (details?.kind ?? '');
  const [first = ''] = causes;
  if (causes.length === 1) return `The ${subject} is invalid: ${first}`;
  return `The ${subject} is invalid: \n${[...new Set(causes)].map((cause) => `* ${cause}`).join('\n')}`;
}
