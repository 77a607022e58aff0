// Makes the watch report its revision, where what is waited for is another writer's and never arrives as an event.
import type { EtcdClient, MemberStream } from './client.ts';
import { progressKey } from './key-range.ts';
import { encodeProgressRequest } from './messages.ts';

export type ProgressRequests = {
  /** The stream that the store follows. */
  stream?: MemberStream;
  /** Asks it for its progress; undefined where the member of the stream must not be asked. */
  send: (() => void) | undefined;
  /** How many requests were sent since the last response. */
  unanswered: number;
};

/** A member that does not answer so many requests is not asked again. */
const maxUnanswered = 3;

/** Where the member cannot be asked, or does not answer, a key is written: its event says that all before it were delivered. */
export async function requestProgress(
  client: Pick<EtcdClient, 'transact'>,
  prefix: string,
  requests: ProgressRequests,
): Promise<void> {
  if (requests.send !== undefined && requests.unanswered < maxUnanswered) {
    requests.unanswered += 1;
    requests.send();
    return;
  }
  const key = progressKey(prefix);
  const put = { kind: 'put', key, value: new Uint8Array(0), lease: 0 } as const;
  await client.transact({ compare: [], success: [put], failure: [] });
}

/** From now on the stream is asked, once its member is known to answer right. */
export function useStream(requests: ProgressRequests, stream: MemberStream): void {
  requests.send = undefined;
  requests.unanswered = 0;
  requests.stream = stream;
  stream.version().then(
    (version) => {
      // Another stream may have replaced it meanwhile.
      if (requests.stream !== stream || !sendsProgressInOrder(version)) return;
      requests.send = () => stream.send(encodeProgressRequest());
    },
    () => {
      // Whatever the reason, a member of unknown version is not asked; a broken connection ends the stream, too.
    },
  );
}

/**
 * Older members answer with a revision whose events they have not sent yet: a read that trusts them misses writes.
 * The releases are those from which Kubernetes relies on progress requests.
 */
const firstOrdered = [
  [3, 4, 31],
  [3, 5, 13],
] as const;

export function sendsProgressInOrder(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/).map(Number);
  if (major !== 3) return major > 3;
  const release = firstOrdered.find(([, ofMinor]) => ofMinor === minor);
  return release === undefined ? minor > 5 : patch >= release[2];
}
