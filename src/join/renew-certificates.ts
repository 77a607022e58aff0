// Renews the certificates of a node while it runs, before they expire and without interruption. The time is random, so that many
// nodes that joined together do not all renew at once.
import { X509Certificate } from 'node:crypto';
import type { KeyPair } from '../apiserver/certificates/x509.ts';
import type { ApiCaller } from '../client/api-call.ts';
import { type Clock, sleep } from '../host/clock.ts';
import { nodeClientSigner, nodeServingSigner } from '../kinds/certificate-signing-request/types.ts';
import type { Log } from '../observe/log.ts';
import { readPair, writePair } from './identity-files.ts';
import { type CertificateSpec, requestCertificate } from './request-certificate.ts';

export type RenewalOptions = {
  readonly caller: ApiCaller;
  readonly directory: string;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  /** As Math.random: from 0 to below 1. */
  readonly random: () => number;
};

/** Shares of a certificate's lifetime, as in the kubelet. */
const minLifetimeShare = 0.7;
const maxLifetimeShare = 0.9;

/** A random time between 70 and 90 percent of the certificate's lifetime. */
export function renewalTime(certificate: string, random: number): number {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const issuedAt = Date.parse(validFrom);
  const lifetimeMs = Date.parse(validTo) - issuedAt;
  return (
    issuedAt + lifetimeMs * (minLifetimeShare + (maxLifetimeShare - minLifetimeShare) * random)
  );
}

/** Calls `use` with each new pair after it is on disk. Resolves when the signal aborts. */
export async function renewClientCertificate(
  options: RenewalOptions,
  use: (pair: KeyPair) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const spec = { signer: nodeClientSigner, use: 'client auth' } as const;
  await renew(options, { name: 'client', spec, isUsable: () => true, use }, signal);
}

/**
 * The first name is the node's, the others are its addresses; a certificate without them is replaced immediately. Addresses from which
 * the server has not seen requests of the node need approval by a person: meanwhile a certificate for the name alone is used, which is
 * approved automatically.
 */
export async function renewServingCertificate(
  options: RenewalOptions,
  names: readonly string[],
  use: (pair: KeyPair) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const spec = { signer: nodeServingSigner, use: 'server auth', names } as const;
  const fallback = names.length > 1 ? { ...spec, names: names.slice(0, 1) } : undefined;
  const isUsable = ({ certificate }: KeyPair): boolean => coversNames(certificate, names);
  const renewed = { name: 'serving', spec, isUsable, use } as const;
  await renew(options, fallback === undefined ? renewed : { ...renewed, fallback }, signal);
}

export function coversNames(certificate: string, names: readonly string[]): boolean {
  const parsed = new X509Certificate(certificate);
  return names.every(
    (name) => parsed.checkHost(name) !== undefined || parsed.checkIP(name) !== undefined,
  );
}

type Renewed = {
  readonly name: 'client' | 'serving';
  readonly spec: Omit<CertificateSpec, 'caller' | 'nodeName'>;
  /** Requested and used while `spec` waits for approval. */
  readonly fallback?: Renewed['spec'];
  readonly isUsable: (pair: KeyPair) => boolean;
  readonly use: (pair: KeyPair) => Promise<void>;
};

/** A failed request may need a person to resolve; retrying more often gains nothing. */
const retryMs = 60_000;
/** A request that is not approved within this time is replaced by a new one. */
const approvalTimeoutMs = 3_600_000;

async function renew(
  options: RenewalOptions,
  renewed: Renewed,
  signal: AbortSignal,
): Promise<void> {
  const { directory, clock, log, random } = options;
  let pair = await readPair(directory, renewed.name);
  let renewAt =
    pair === undefined || !renewed.isUsable(pair) ? 0 : renewalTime(pair.certificate, random());
  while (!signal.aborted) {
    // The longest timer may be shorter than a certificate's lifetime, so the time is checked again.
    if (clock.now() < renewAt) {
      await sleep(clock, renewAt - clock.now(), signal);
      continue;
    }
    try {
      pair = await obtain(options, renewed, signal);
      await writePair(directory, renewed.name, pair);
      await renewed.use(pair);
      renewAt = renewalTime(pair.certificate, random());
      log.info('Renewed certificate', { certificate: renewed.name });
    } catch (error) {
      if (signal.aborted) return;
      log.warn('Failed to renew certificate, retrying', {
        certificate: renewed.name,
        error: error instanceof Error ? error.message : String(error),
      });
      await sleep(clock, retryMs, signal);
    }
  }
}

async function obtain(
  options: RenewalOptions,
  renewed: Renewed,
  signal: AbortSignal,
): Promise<KeyPair> {
  const { caller, nodeName, clock, log } = options;
  const timeout = new AbortController();
  const timeOutAfter = (ms: number): (() => void) =>
    clock.after(ms, () => timeout.abort(new Error('the request was not approved in time')));
  const cancels = [timeOutAfter(approvalTimeoutMs)];
  const until = AbortSignal.any([signal, timeout.signal]);
  let isObtained = false;
  const useFallback = async (request: string): Promise<void> => {
    log.warn('Certificate request is waiting for approval', { certificate: renewed.name, request });
    if (renewed.fallback === undefined) return;
    const pair = await requestCertificate({ ...renewed.fallback, caller, nodeName }, until);
    if (isObtained || until.aborted) return;
    await writePair(options.directory, renewed.name, pair);
    await renewed.use(pair);
    log.info('Using a certificate for the node name only', { certificate: renewed.name });
    // By then there must be another, approved or not.
    cancels.push(timeOutAfter(renewalTime(pair.certificate, options.random()) - clock.now()));
  };
  const onWait = (request: string): void => {
    useFallback(request).catch((error: unknown) => {
      if (until.aborted || isObtained) return;
      log.warn('Failed to request a certificate for the node name only', { error: String(error) });
    });
  };
  try {
    return await requestCertificate({ ...renewed.spec, caller, nodeName, onWait }, until);
  } finally {
    isObtained = true;
    for (const cancel of cancels) cancel();
  }
}
