// Recognizes the rejection of creations in a terminating namespace.
import { isApiError } from '../../meta/api-error.ts';

const namespaceTerminatingCause = 'NamespaceTerminating';

export function isNamespaceTerminating(error: unknown): boolean {
  if (!isApiError(error)) return false;
  return (
    error.status.details?.causes?.some(({ reason }) => reason === namespaceTerminatingCause) ??
    false
  );
}
