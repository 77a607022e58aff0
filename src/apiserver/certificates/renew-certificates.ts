// Certificates while the server runs: replaced before they end, and taken over when somebody replaced the files.
import type { Clock } from '../../host/clock.ts';
import type { Log } from '../../observe/log.ts';
import {
  type CertificateOptions,
  type Credentials,
  ensureCertificates,
} from './ensure-certificates.ts';

export type RenewalOptions = {
  readonly certificates: Omit<CertificateOptions, 'now'>;
  /** Those in use now. */
  readonly current: Credentials;
  /** Given all of them when any has changed. */
  readonly use: (credentials: Credentials) => Promise<void> | void;
  readonly clock: Clock;
  readonly log: Log;
};

/** A few small files are read each time; renewal itself is due once in many months. */
const checkEveryMs = 60_000;

/** The returned function ends it. */
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
    log.info('certificates replaced', { directory: certificates.directory });
  };
  const schedule = (): void => {
    if (isStopped) return;
    cancel = clock.after(checkEveryMs, () => {
      check()
        .catch((error: unknown) => {
          log.error('certificates not checked, those of before stay', {
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
