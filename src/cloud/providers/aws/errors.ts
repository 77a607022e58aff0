// Classifies errors of AWS. They come from another bundle, so they are recognized by code and message, not by class.

/** The code as it stands in the answer; the SDK's own names for some of them differ. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { Code } = error as { readonly Code?: unknown };
  return (typeof Code === 'string' ? Code : error.name).replace(/Exception$/, '');
}

export function isAwsError(error: unknown): error is Error {
  return error instanceof Error && '$metadata' in error;
}

const goneCodes = new Set([
  'LoadBalancerNotFound',
  'AccessPointNotFound',
  'TargetGroupNotFound',
  'ListenerNotFound',
  'InvalidGroup.NotFound',
  'InvalidGroupId.NotFound',
  'InvalidPermission.NotFound',
]);

/** It is not there: gone, not made yet, or made and not shown yet. */
export const isGone = (error: unknown): boolean => goneCodes.has(codeOf(error));

const alreadyCodes = new Set([
  'DuplicateLoadBalancerName',
  'DuplicateAccessPointName',
  'DuplicateTargetGroupName',
  'DuplicateListener',
  'DuplicatePolicyName',
  'InvalidGroup.Duplicate',
  'InvalidPermission.Duplicate',
]);

/** It is there already, perhaps not shown yet. */
export const isAlready = (error: unknown): boolean => alreadyCodes.has(codeOf(error));

/** Something that goes away still holds it. */
const heldCodes = new Set(['ResourceInUse', 'DependencyViolation', 'OperationNotPermitted']);
export const isHeld = (error: unknown): boolean => heldCodes.has(codeOf(error));

const busyCodes = new Set([
  'Throttling',
  'Throttled',
  'RequestThrottled',
  'RequestLimitExceeded',
  'TooManyRequests',
  'SlowDown',
  'TimeoutError',
  'AbortError',
  'RequestTimeout',
]);
const connectionCodes = /^(E(CONN|PIPE|TIMEDOUT|AI_AGAIN|HOST|NET)|socket hang up)/;

export const isThrottled = (code: string): boolean =>
  /Throttl|RequestLimit|TooManyRequests|SlowDown/.test(code);

/** Nothing is wrong with what was asked: AWS is busy or out of order, or can not be reached. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { $metadata, code } = error as {
    readonly $metadata?: { readonly httpStatusCode?: number };
    readonly code?: string;
  };
  return (
    busyCodes.has(codeOf(error)) ||
    ($metadata?.httpStatusCode ?? 0) >= 500 ||
    connectionCodes.test(code ?? error.message)
  );
}
