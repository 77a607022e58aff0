// Lines that a person types at a terminal.
import { createInterface } from 'node:readline';

/** Longer answers are of no person. */
const maxLength = 1000;

/** The next line; undefined at the end of the input, and when the signal aborts. */
export function createLineReader(
  input: NodeJS.ReadableStream,
  signal: AbortSignal,
): () => Promise<string | undefined> {
  return () =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve(undefined);
      // Open only while there is a question: an open terminal would keep the program from ending.
      const lines = createInterface({ input, terminal: false });
      const end = (line?: string): void => {
        signal.removeEventListener('abort', stop);
        resolve(line?.slice(0, maxLength));
        lines.close();
      };
      const stop = (): void => end();
      signal.addEventListener('abort', stop, { once: true });
      lines.once('line', end);
      lines.once('close', stop);
    });
}
