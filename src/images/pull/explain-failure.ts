// Errors of a pull in the words of containerd, which people search for.
import { ImageError, type ImageErrorCode } from '../image-error.ts';
import { ManifestError } from '../parse-manifest.ts';
import { RegistryError, type RegistryReason } from '../registry/registry-error.ts';
import { UnpackError } from '../unpack/unpack-error.ts';

const codes: Readonly<Record<RegistryReason, ImageErrorCode>> = {
  unreachable: 'Unavailable',
  stalled: 'Unavailable',
  failing: 'Unavailable',
  busy: 'ResourceExhausted',
  denied: 'PermissionDenied',
  missing: 'NotFound',
  invalid: 'FailedPrecondition',
};

/** `name` is the full one; `step` is `resolve` until the manifest is here. */
export function explainFailure(error: unknown, name: string, step: 'resolve' | 'copy'): unknown {
  const failed = causeOf(error, name, step);
  if (failed === undefined) return error;
  const { code, text } = failed;
  return new ImageError(
    'ErrImagePull',
    code,
    `failed to pull and unpack image "${name}": ${text}`,
    { cause: error },
  );
}

type Failed = { readonly code: ImageErrorCode; readonly text: string };

/** Undefined for what is no fault of the image or its registry. */
function causeOf(error: unknown, name: string, step: 'resolve' | 'copy'): Failed | undefined {
  if (error instanceof RegistryError) {
    const { reason, message } = error;
    const isMissing = reason === 'missing' && step === 'resolve';
    const doing = reason === 'unreachable' || reason === 'stalled' ? 'failed to do request: ' : '';
    const text = isMissing ? `${name}: not found` : `${doing}${message}`;
    const doingStep =
      step === 'resolve' ? `failed to resolve reference "${name}"` : 'failed to copy';
    return { code: codes[reason], text: `${doingStep}: ${text}` };
  }
  if (error instanceof ManifestError) return { code: 'FailedPrecondition', text: error.message };
  if (error instanceof ImageError && error.reason === 'ErrImagePull')
    return { code: error.code, text: error.message };
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return { code: 'ResourceExhausted', text: 'failed to copy: no space left on device' };
  return undefined;
}

/** Of one layer that cannot be unpacked. */
export function explainUnpack(error: unknown, name: string, diffId: string): unknown {
  if (!(error instanceof UnpackError)) return error;
  const code = error.reason === 'invalid' ? 'FailedPrecondition' : 'ResourceExhausted';
  return new ImageError(
    'ErrImagePull',
    code,
    `failed to pull and unpack image "${name}": failed to extract layer ${diffId}: ${error.message}`,
    { cause: error },
  );
}
