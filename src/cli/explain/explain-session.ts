// What the commands that explain a cluster share: a session in which every failure is one sentence and exit code 2, and a snapshot that is
// read with progress.
import { missingRight } from '../../client/missing-rights.ts';
import {
  type ClientFlags,
  type ConnectOptions,
  type Session,
  withSession,
} from '../../flags/client-flags.ts';
import { FailedError, UsageError, type World } from '../../flags/command.ts';
import { isApiError } from '../../meta/api-error.ts';
import { printable } from '../../meta/printable.ts';
import { HistoryUnavailable } from '../../snapshot/read-history.ts';
import { type ReadSnapshotOptions, readSnapshot } from '../../snapshot/read-snapshot.ts';
import type { Snapshot, Unread } from '../../snapshot/snapshot.ts';
import { apiErrorText } from '../output/api-error-text.ts';
import { withProgress } from './progress.ts';

/** The question could not be answered: bad input, an unreachable server, no rights. Findings have other codes. */
const unanswered = 2;
/** As shells report SIGINT. */
export const interruptedCode = 130;

export async function withExplainSession<T>(
  flags: ClientFlags,
  world: World,
  act: (session: Session) => Promise<T>,
  // The kubeconfig in the home directory is for commands that only read.
  { mayUseHome = true }: Pick<ConnectOptions, 'mayUseHome'> = {},
): Promise<T> {
  try {
    return await withSession(flags, world, act, { mayUseHome, hidesWarnings: true });
  } catch (error) {
    if (world.interrupted.aborted) throw new FailedError('', { exitCode: interruptedCode });
    if (error instanceof HistoryUnavailable)
      throw new FailedError(error.message, { exitCode: unanswered, cause: error });
    if (isApiError(error)) throw new FailedError(apiErrorText(error), { exitCode: unanswered });
    // Of JSON: the kubeconfig leads to a server of another kind.
    if (error instanceof SyntaxError)
      throw new FailedError('The server does not answer as a Kubernetes API server does', {
        ...{ exitCode: unanswered, cause: error },
      });
    if (error instanceof FailedError && error.exitCode === 1 && error.message !== '') {
      throw new FailedError(error.message, { exitCode: unanswered, cause: error });
    }
    throw error;
  }
}

export async function readSessionSnapshot(
  { caller }: Session,
  world: World,
  options: ReadSnapshotOptions = {},
): Promise<Snapshot> {
  const reading = readSnapshot(caller, { signal: world.interrupted, ...options });
  const snapshot = await withProgress(world, 'Reading the objects of the cluster', reading);
  const kinds = options.kinds?.length;
  const refused = new Set(snapshot.unread.map(({ kind }) => kind));
  // Without a single list there is nothing to explain.
  if (kinds !== undefined && kinds > 0 && refused.size === kinds) {
    throw new UsageError(missingRightText(snapshot.unread[0] as Unread));
  }
  return snapshot;
}

/** One line for each list that the user may not read. Resources that the server lacks are not missing. */
export function missingRightsText({ unread }: Snapshot): readonly string[] {
  return unread.filter(({ reason }) => reason !== 'not-served').map(missingRightText);
}

function missingRightText({ kind, namespace, reason, message }: Unread): string {
  const right = reason === 'forbidden' ? missingRight(message) : undefined;
  if (right === undefined) return printable(`Cannot read ${kind}: ${message}`);
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${namespace}`;
  return printable(
    `Cannot read ${kind}: user "${right.user}" needs the right to ${right.verb} ${right.resource} ${where}`,
  );
}
