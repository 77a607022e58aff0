import { errnoName } from '../system-call-error.ts';
import type { ErrorReport } from './messages.ts';

/** The kernel refused a message. `code` is the error's name (`ENOENT`), `explanation` the kernel's text, if any. */
export class NetlinkError extends Error {
  override readonly name = 'NetlinkError';
  readonly errno: number;
  readonly code: string;
  /** Sequence number of the refused message. */
  readonly sequence: number;
  readonly explanation?: string;
  /** Offset of the offending attribute in the message. */
  readonly offset?: number;

  constructor(doing: string, report: ErrorReport) {
    const code = errnoName(report.errno);
    super(`Cannot ${doing}: ${code}${report.text === undefined ? '' : ` (${report.text})`}`);
    this.errno = report.errno;
    this.code = code;
    this.sequence = report.sequence;
    if (report.text !== undefined) this.explanation = report.text;
    if (report.offset !== undefined) this.offset = report.offset;
  }
}

/** Whether the error, of netlink or of a system call, has this name. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
