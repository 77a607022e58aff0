// Certificates of a member while it runs: asked for anew before they end, and taken over without a break. When is drawn, so that
// many nodes that joined together do not all come at once.
import { X509Certificate } from 'node:crypto';
import type { KeyPair } from '../apiserver/certificates/x509.ts';
import type { ApiCaller } from '../client/api-call.ts';
import { type Clock, sleep } from '../host/clock.ts';
import { nodeClientSigner, nodeServingSigner } from '../kinds/certificate-signing-request/types.ts';
import type { Log } from '../observe/log.ts';
import { readPair, writePair } from './identity-files.ts';
import { type CertificateSpec, requestCertificate } from './request-certificate.ts';

export type CertificateKeeper = {
  readonly caller: ApiCaller;
  readonly directory: string;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1. */
  readonly random: () => number;
};

/** Of a certificate's life, as a kubelet has it. */
const earliest = 0.7;
const latest = 0.9;

/** When to ask for the next, drawn between 70 and 90 percent of the life. */
export function renewalTime(certificate: string, random: number): number {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const begin = Date.parse(validFrom);
  const life = Date.parse(validTo) - begin;
  return begin + life * (earliest + (latest - earliest) * random);
}

/** `use` is given each new pair after it is on disk. Resolves when the signal ends it. */
export async function keepClientCertificate(
  keeper: CertificateKeeper,
  use: (pair: KeyPair) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const wish = { signer: nodeClientSigner, use: 'client auth' } as const;
  await keep(keeper, { name: 'client', wish, isFit: () => true, use }, signal);
}

/**
 * The first name is the node's, the others are its addresses; a certificate without them is replaced at once. For addresses that the
 * server has not seen the node speak from somebody must approve: meanwhile a certificate for the name alone is used, by which the
 * server knows the node already.
 */
export async function keepServingCertificate(
  keeper: CertificateKeeper,
  names: readonly string[],
  use: (pair: KeyPair) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const wish = { signer: nodeServingSigner, use: 'server auth', names } as const;
  const meanwhile = names.length > 1 ? { ...wish, names: names.slice(0, 1) } : undefined;
  const isFit = ({ certificate }: KeyPair): boolean => carries(certificate, names);
  const kept = { name: 'serving', wish, isFit, use } as const;
  await keep(keeper, meanwhile === undefined ? kept : { ...kept, meanwhile }, signal);
}

export function carries(certificate: string, names: readonly string[]): boolean {
  const parsed = new X509Certificate(certificate);
  return names.every(
    (name) => parsed.checkHost(name) !== undefined || parsed.checkIP(name) !== undefined,
  );
}

type Kept = {
  readonly name: 'client' | 'serving';
  readonly wish: Omit<CertificateSpec, 'caller' | 'nodeName'>;
  /** What to do with until somebody has approved the other. */
  readonly meanwhile?: Kept['wish'];
  readonly isFit: (pair: KeyPair) => boolean;
  readonly use: (pair: KeyPair) => Promise<void>;
};

/** What keeps a request from being answered may take a person; nobody gains from asking more often. */
const retryMs = 60_000;
/** A request that waits for a person is given up after this, and made anew. */
const patienceMs = 3_600_000;

async function keep(keeper: CertificateKeeper, kept: Kept, signal: AbortSignal): Promise<void> {
  const { directory, clock, log, random } = keeper;
  let pair = await readPair(directory, kept.name);
  let due = pair === undefined || !kept.isFit(pair) ? 0 : renewalTime(pair.certificate, random());
  while (!signal.aborted) {
    // A clock's longest wait may be shorter than a certificate's life: it is looked at again.
    if (clock.now() < due) {
      await sleep(clock, due - clock.now(), signal);
      continue;
    }
    try {
      pair = await obtain(keeper, kept, signal);
      await writePair(directory, kept.name, pair);
      await kept.use(pair);
      due = renewalTime(pair.certificate, random());
      log.info('certificate renewed', { certificate: kept.name });
    } catch (error) {
      if (signal.aborted) return;
      log.warn('certificate not renewed, will try again', {
        certificate: kept.name,
        error: error instanceof Error ? error.message : String(error),
      });
      await sleep(clock, retryMs, signal);
    }
  }
}

async function obtain(
  keeper: CertificateKeeper,
  kept: Kept,
  signal: AbortSignal,
): Promise<KeyPair> {
  const { caller, nodeName, clock, log } = keeper;
  const givenUp = new AbortController();
  const giveUpAfter = (ms: number): (() => void) =>
    clock.after(ms, () => givenUp.abort(new Error('nobody has approved the request')));
  const cancels = [giveUpAfter(patienceMs)];
  const until = AbortSignal.any([signal, givenUp.signal]);
  let isObtained = false;
  const makeDo = async (request: string): Promise<void> => {
    log.warn('certificate request waits for approval', { certificate: kept.name, request });
    if (kept.meanwhile === undefined) return;
    const pair = await requestCertificate({ ...kept.meanwhile, caller, nodeName }, until);
    if (isObtained || until.aborted) return;
    await writePair(keeper.directory, kept.name, pair);
    await kept.use(pair);
    log.info('certificate for the name alone in use', { certificate: kept.name });
    // By then there must be another, whether or not anybody has approved.
    cancels.push(giveUpAfter(renewalTime(pair.certificate, keeper.random()) - clock.now()));
  };
  const onWait = (request: string): void => {
    makeDo(request).catch((error: unknown) => {
      if (until.aborted || isObtained) return;
      log.warn('no certificate for the name alone either', { error: String(error) });
    });
  };
  try {
    return await requestCertificate({ ...kept.wish, caller, nodeName, onWait }, until);
  } finally {
    isObtained = true;
    for (const cancel of cancels) cancel();
  }
}
