// Loopback addresses that belong to one cluster of this machine: a second one takes others, so that nobody reaches the wrong cluster.
import type { claimName } from '../host/claim-name.ts';

export type LoopbackClaims = {
  /** Where node ports answer. */
  readonly nodePorts: Claimed<string>;
  /** 127.N, as near to the one asked for as is free. */
  readonly octet: (wanted: number) => Promise<Claimed<number>>;
  readonly release: () => void;
};

/** The one asked for, shared, where all candidates are claimed: any user of the machine can claim them all. */
export type Claimed<T> = { readonly value: T; readonly isShared: boolean };

/** What people are told of a shared address. */
export const sharedText =
  'other programs of this machine have claimed all addresses that could be used instead, so it may not be of this cluster alone';

/** Clusters side by side on one machine. */
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
    wanted: T,
    candidates: readonly T[],
    name: (one: T) => string,
  ): Promise<Claimed<T>> => {
    for (const value of candidates) {
      if (await tryClaim(name(value))) return { value, isShared: false };
    }
    return { value: wanted, isShared: true };
  };
  const addresses = Array.from({ length: maxClusters }, (_, n) => `127.0.0.${n + 1}`);
  return {
    nodePorts: await firstFree('127.0.0.1', addresses, (address) => address),
    octet: (wanted) => {
      const candidates = Array.from(
        { length: maxClusters },
        (_, n) => 1 + ((wanted - 1 + n) % 254),
      );
      return firstFree(wanted, candidates, (octet) => `127.${octet}.0.0/16`);
    },
    release: () => {
      for (const release of releases) release();
    },
  };
}
