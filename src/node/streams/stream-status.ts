// The status of a command, sent on the error stream (upstream: kubelet's pkg/cri/streaming/remotecommand/exec.go).

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

/** kubectl exits with the code in the cause. */
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

/** The text for the error stream; empty for old clients, which treat any text as an error, if the command succeeded. */
export function statusText(status: StreamStatus, hasStatus: boolean): string {
  if (hasStatus) return JSON.stringify(status);
  return status.status === 'Success' ? '' : (status.message ?? '');
}
