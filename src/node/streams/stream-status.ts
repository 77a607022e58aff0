// How a command ended, as the last word on its connection (upstream: kubelet's pkg/cri/streaming/remotecommand/exec.go).

export type StreamStatus = {
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: {
    readonly causes: readonly { readonly reason?: string; readonly message: string }[];
  };
  readonly code?: number;
};

const metadata = {};

export const succeeded: StreamStatus = { metadata, status: 'Success' };

/** kubectl ends with the code that stands in the cause. */
export function exitStatus(exitCode: number): StreamStatus {
  if (exitCode === 0) return succeeded;
  return {
    metadata,
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

export function internalStatus(message: string): StreamStatus {
  return {
    metadata,
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  };
}

/** The bytes for the error stream; nothing where old clients take any word for an error. */
export function statusText(status: StreamStatus, hasStatus: boolean): string {
  if (hasStatus) return JSON.stringify(status);
  return status.status === 'Success' ? '' : (status.message ?? '');
}
