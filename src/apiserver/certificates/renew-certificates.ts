// Renews certificates before they expire, and reloads them when their files are replaced.
import type { Clock } from '../../host/clock.ts';
import type { Log } from '../../observe/log.ts';
import {
  type CertificateOptions,
  type Credentials,
  ensureCertificates,
} from './ensure-certificates.ts';

export type RenewalOptions = {
  readonly certificates: Omit<CertificateOptions, 'now'>;
  /** In use at the start. */
  readonly current: Credentials;
  /** Called with all of them when any has changed. */
  readonly use: (credentials: Credentials) => Promise<void> | void;
  readonly clock: Clock;
  readonly log: Log;
};

/** A check reads a few small files; renewal itself is due once in many months. */
const checkIntervalMs = 60_000;

/** Returns how to stop. */
export function startRenewal({
  certificates,
  current,
  use,
  clock,
  log,
}: RenewalOptions): () => void {
  let inUse = current;
  let cancel = (): void => {};
  let isStopped = false;

  const check = async (): Promise<void> => {
    const found = await ensureCertificates({ ...certificates, now: clock.now() });
    if (isStopped || isSame(found, inUse)) return;
    await use(found);
    inUse = found;
    log.info('Reloaded certificates', { directory: certificates.directory });
  };
  const schedule = (): void => {
    if (isStopped) return;
    cancel = clock.after(checkIntervalMs, () => {
      check()
        .catch((error: unknown) => {
          log.error('Failed to check certificates, keeping the previous ones', {
            directory: certificates.directory,
            error: error instanceof Error ? error.message : String(error),
          });
        })
        .finally(schedule);
    });
  };
  schedule();
  return () => {
    isStopped = true;
    cancel();
  };
}

function isSame(a: Credentials, b: Credentials): boolean {
  return (['authority', 'server', 'administrator'] as const).every(
    (name) =>
      a[name].certificate === b[name].certificate && a[name].privateKey === b[name].privateKey,
  );
}
