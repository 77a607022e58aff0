// The controllers beside an API server; with leader election where several servers share an etcd.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { defaultTiming, runElection } from '../client/leader-election.ts';
import { controllersLease } from '../controllers/rights.ts';
import { type ControllersOptions, startControllers } from '../controllers/run.ts';
import { packageVersion } from '../flags/package-version.ts';
import { systemClock } from '../host/clock.ts';

export function leadControllers(
  { etcdServers }: { readonly etcdServers?: readonly string[] },
  options: ControllersOptions,
): Promise<void> {
  if (etcdServers === undefined) return startControllers(options);
  return runElection(
    {
      // The same lease as that of `fairlead controllers`.
      ...controllersLease,
      caller: { transport: options.transport, userAgent: `fairlead-controllers/${packageVersion}` },
      identity: `${hostname()}_${randomUUID()}`,
      clock: systemClock,
      log: options.log,
      timing: defaultTiming,
      lead: (signal) => startControllers({ ...options, signal }),
    },
    options.signal,
  );
}
