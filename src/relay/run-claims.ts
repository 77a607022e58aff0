// Claims loopback addresses for one cluster of this machine. A second cluster gets others, so that no client reaches the wrong one.
import type { claimName } from '../host/claim-name.ts';

export type LoopbackClaims = {
  /** The address of node ports. */
  readonly nodePorts: Claimed<string>;
  /** N of 127.N.0.0/16: the preferred one, or the next that is free. */
  readonly octet: (preferred: number) => Promise<Claimed<number>>;
  readonly release: () => void;
};

/** The preferred value, shared, if all candidates are claimed: any user of the machine can claim them all. */
export type Claimed<T> = { readonly value: T; readonly isShared: boolean };

/** Appended to messages about a shared address. */
export const sharedText =
  'other programs of this machine have claimed all addresses that could be used instead, so it may not be of this cluster alone';

/** Clusters at the same time on one machine. */
const maxClusters = 100;
const namePrefix = 'fairlead-loopback';

export async function claimLoopback(claim: typeof claimName): Promise<LoopbackClaims> {
  const releases: (() => void)[] = [];
  const tryClaim = async (range: string): Promise<boolean> => {
    const claimed = await claim(`${namePrefix} ${range}`);
    if (claimed !== undefined) releases.push(claimed.release);
    return claimed !== undefined;
  };
  const firstFree = async <T>(
    preferred: T,
    candidates: readonly T[],
    name: (one: T) => string,
  ): Promise<Claimed<T>> => {
    for (const value of candidates) {
      if (await tryClaim(name(value))) return { value, isShared: false };
    }
    return { value: preferred, isShared: true };
  };
  const addresses = Array.from({ length: maxClusters }, (_, n) => `127.0.0.${n + 1}`);
  return {
    nodePorts: await firstFree('127.0.0.1', addresses, (address) => address),
    octet: (preferred) => {
      const candidates = Array.from(
        { length: maxClusters },
        (_, n) => 1 + ((preferred - 1 + n) % 254),
      );
      return firstFree(preferred, candidates, (octet) => `127.${octet}.0.0/16`);
    },
    release: () => {
      for (const release of releases) release();
    },
  };
}
