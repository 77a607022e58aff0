// `--watch`: says what appears and what goes, until it is interrupted.
import type { Finding } from '../../doctor/check.ts';
import type { Diagnosis } from '../../doctor/diagnose.ts';
import { findingChanges } from '../../doctor/finding-changes.ts';
import { objectText } from '../../doctor/object-names.ts';
import type { Session } from '../../flags/client-flags.ts';
import type { World } from '../../flags/command.ts';
import { type Clock, sleep } from '../../host/clock.ts';
import { printable } from '../../meta/printable.ts';
import type { Log } from '../../observe/log.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { watchSnapshot } from '../../snapshot/watch-snapshot.ts';
import { paintFor } from '../output/paint.ts';
import type { Diagnosed } from './report-diagnosis.ts';

export type Watching = {
  readonly session: Session;
  readonly world: World;
  readonly clock: Clock;
  /** What has been printed. */
  readonly first: Diagnosed;
  readonly diagnoseAgain: (snapshot: Snapshot) => Diagnosis;
  /** Notes are shown, too. */
  readonly verbose: boolean;
};

/** A rollout changes many objects within a moment: its middle is not worth a diagnosis. */
const quietMs = 1000;
/** Some findings come with time alone, such as a load balancer that has no address for a minute. */
const idleMs = 20_000;
/** A diagnosis may take a tenth of the time, however large the cluster is. */
const share = 10;

export async function runWatch({
  session,
  world,
  clock,
  first,
  diagnoseAgain,
  verbose,
}: Watching): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([world.interrupted, ended.signal]);
  const trouble = createTrouble(world);
  let wake = (): void => {};
  const following = watchSnapshot(
    {
      ...{ caller: session.caller, clock, log: trouble.log, first: first.snapshot },
      onChange: () => {
        trouble.ended();
        wake();
      },
    },
    signal,
  );
  await following.synced;
  let { findings } = first.diagnosis;
  while (!signal.aborted && world.isOutputClosed?.() !== true) {
    const begin = clock.now();
    const after = diagnoseAgain(following.take()).findings;
    const tookMs = clock.now() - begin;
    printChanges({ before: findings, after, verbose }, world);
    findings = after;
    const changed = new AbortController();
    wake = () => changed.abort();
    await sleep(clock, idleMs, AbortSignal.any([signal, changed.signal]));
    await sleep(clock, Math.max(quietMs, tookMs * share), signal);
  }
  ended.abort();
  await following.ended;
}

/** All lists fail at once when a server restarts: one line says so, and the next trouble of the same kind is mentioned only after a change. */
function createTrouble({ writeError }: World) {
  let mentioned: string | undefined;
  const log: Log = {
    error: () => {},
    warn(_message, { error = '' } = {}) {
      const why = String(error).replace(/^\w{0,40}Error: /, '');
      if (why !== mentioned)
        writeError(`${printable(`Cannot follow the cluster, retrying: ${why}`)}\n`);
      mentioned = why;
    },
    info: () => {},
    debug: () => {},
    with: () => log,
  };
  return {
    log,
    /** Changes arrive again. */
    ended(): void {
      if (mentioned !== undefined) writeError('Following the cluster again\n');
      mentioned = undefined;
    },
  };
}

type Changes = {
  readonly before: readonly Finding[];
  readonly after: readonly Finding[];
  readonly verbose: boolean;
};

function printChanges({ before, after, verbose }: Changes, world: World): void {
  const isShown = ({ severity }: Finding): boolean => verbose || severity !== 'info';
  const { appeared, gone } = findingChanges(before.filter(isShown), after.filter(isShown));
  const { red, green } = paintFor(world);
  const time = new Date(world.now()).toTimeString().slice(0, 8);
  const lineOf = (word: string, { severity, code, about, message }: Finding): string =>
    printable(`${time}  ${word}  ${severity.padEnd(7)} ${code}  ${objectText(about)}: ${message}`);
  for (const finding of gone) world.write(`${green(lineOf('gone', finding))}\n`);
  for (const finding of appeared) world.write(`${red(lineOf('new ', finding))}\n`);
}
