// Reads the whole body of a request, within limits.
import type { Readable } from 'node:stream';
import { untilNotDue } from '../../host/yield-when-due.ts';
import { badRequest, tooLarge } from '../../meta/api-error.ts';
import { tooManyRequests } from '../limits/too-many-requests.ts';

/** The memory of all bodies that are being read. */
export type BodyBudget = {
  readonly maxBytes: number;
  readonly maxBytesTotal: number;
  /** Bytes of incomplete bodies. */
  bytesInUse: number;
};

/** A request over HTTP/1.1, or a stream of HTTP/2. */
type Incoming = Readable & { readonly aborted?: boolean; readonly rstCode?: number | undefined };

/** Node.js ends the stream of a client that resets it or disconnects as if its body were complete. */
const isCutOff = ({ aborted, rstCode = 0 }: Incoming): boolean => aborted === true || rstCode !== 0;

/** Putting one together takes a millisecond, and hundreds may end in the same moment. */
const largeBytes = 64 * 1024;

/** Rejects with 413 when it is too large, and with 429 when the bodies of all clients exceed the budget. */
export function readBody(request: Incoming, budget: BodyBudget): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isDone = false;
    /** And not yet put together. */
    let isWhole = false;
    const finish = (): void => {
      if (isDone) return;
      isDone = true;
      budget.bytesInUse -= size;
    };
    const refuse = (why: Error): void => {
      finish();
      chunks.length = 0;
      reject(why);
    };
    request.on('data', (chunk: Buffer) => {
      // A refused body is read to its end and dropped: a client that is still sending would not read the response.
      if (isDone) return;
      size += chunk.length;
      budget.bytesInUse += chunk.length;
      chunks.push(chunk);
      const { maxBytes, maxBytesTotal } = budget;
      if (size > maxBytes) refuse(tooLarge(`Request entity too large: limit is ${maxBytes}`));
      else if (budget.bytesInUse > maxBytesTotal) refuse(tooManyRequests());
    });
    const complete = (): void => {
      if (isDone) return;
      finish();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    };
    request.on('end', () => {
      if (isCutOff(request)) cutOff();
      else if (size < largeBytes) complete();
      else {
        isWhole = true;
        void untilNotDue().then(complete);
      }
    });
    const cutOff = (): void => {
      // Checked first: every request closes, and creating an error captures a stack trace.
      if (!isDone && !isWhole)
        refuse(badRequest('the body of the request ended before it was complete'));
    };
    request.on('error', cutOff);
    request.on('close', cutOff);
  });
}
