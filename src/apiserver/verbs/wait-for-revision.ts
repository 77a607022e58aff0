// Waits until this server shows the resourceVersion that a read names.
import { failure } from '../../meta/api-error.ts';
import type { Call } from './call.ts';

/** Upstream's limit (storage/cacher, blockTimeout). */
const timeoutMs = 3000;

/**
 * Undefined: the client named none, and sees all that was acknowledged before the request (handle.ts). Throws 504 when the
 * revision is not reached in time.
 */
export async function waitForRevision(
  { context }: Pick<Call, 'context'>,
  wanted: number | undefined,
): Promise<void> {
  const { store, resources } = context;
  if (wanted === undefined || wanted <= resources.revision()) return;
  // Another server may have handed it out for a revision without an event for this one.
  await store.catchUp?.();
  const reached = await resources.caughtUp(wanted, AbortSignal.timeout(timeoutMs));
  if (!reached) throw tooLarge(wanted, resources.revision());
}

function tooLarge(wanted: number, current: number): Error {
  return failure({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}
