// The body of a request, whole and within its limits.
import type { Readable } from 'node:stream';
import { badRequest, tooLarge } from '../../meta/api-error.ts';
import { tooManyRequests } from '../limits/too-many-requests.ts';

/** What all bodies that are being read may take together. */
export type BodyBudget = {
  readonly maxBytes: number;
  readonly maxBytesTotal: number;
  /** Bytes of bodies that are not whole yet. */
  held: number;
};

/** Rejects with 413 when it is too large, and with 429 when too much is being read from all clients. */
export function readBody(request: Readable, budget: BodyBudget): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isDone = false;
    const finish = (): void => {
      if (isDone) return;
      isDone = true;
      budget.held -= size;
    };
    const refuse = (why: Error): void => {
      finish();
      chunks.length = 0;
      reject(why);
    };
    request.on('data', (chunk: Buffer) => {
      // What was refused is read to its end and dropped: a client that is still sending would not see the answer.
      if (isDone) return;
      size += chunk.length;
      budget.held += chunk.length;
      chunks.push(chunk);
      const { maxBytes, maxBytesTotal } = budget;
      if (size > maxBytes) refuse(tooLarge(`Request entity too large: limit is ${maxBytes}`));
      else if (budget.held > maxBytesTotal) refuse(tooManyRequests());
    });
    request.on('end', () => {
      if (isDone) return;
      finish();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    const cutOff = (): void => {
      // Every request closes, and an error costs a stack trace.
      if (!isDone) refuse(badRequest('the body of the request ended before it was whole'));
    };
    request.on('error', cutOff);
    request.on('close', cutOff);
  });
}
