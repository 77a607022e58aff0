// Which proxies and DNS servers of Fairlead have the changes of a Service in effect: now, live, or waiting until all have.
import { InvalidArgumentError, Option } from 'commander';
import { addClientFlags } from '../../flags/client-flags.ts';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import { duration } from '../../flags/parse-values.ts';
import { PropagationUnavailable, readPropagation } from '../../propagation/read-propagation.ts';
import { interruptedCode, withExplainSession } from '../explain/explain-session.ts';
import { withProgress } from '../explain/progress.ts';
import { inNamespace, serviceTarget } from '../explain/service-target.ts';
import type { PropagationFlags } from '../propagation/propagation-flags.ts';
import { createPropagationView } from '../propagation/propagation-view.ts';
import { followPropagation, type Outcome } from '../propagation/run-follow.ts';

/** The question could not be answered. */
const unanswered = 2;

export const propagation: CommandDefinition = {
  configure(command, world) {
    addClientFlags(command)
      .argument('<service>', 'svc/NAME or svc/NAMESPACE/NAME')
      .option('-w, --watch', 'Shows what changes, until the Service is deleted or Ctrl-C')
      .option('--wait', 'Ends when all have the newest changes in effect')
      .addOption(
        new Option(
          '--timeout <time>',
          'With --wait: how long. Exit code 1 after that (default: 1m)',
        ).argParser(timeout),
      )
      .option(
        '--only-connected',
        'With --wait: does not wait for nodes without a proxy of Fairlead',
      )
      .addOption(
        new Option(
          '-o, --output <format>',
          'Format for programs; with --watch an object a line',
        ).choices(['json', 'yaml']),
      )
      .option('-v, --verbose', 'All parts, and no limit on the lines')
      .action(async (target: string, flags: PropagationFlags) => run(target, flags, world));
  },
};

const atLeastOneMs = duration({ minMs: 1 });

function timeout(text: string): number {
  if (text.length > 20) throw new InvalidArgumentError('it is too long.');
  return atLeastOneMs(text);
}

async function run(text: string, flags: PropagationFlags, world: World): Promise<void> {
  if (flags.wait !== true && (flags.timeout !== undefined || flags.onlyConnected === true)) {
    const flag = flags.timeout === undefined ? '--only-connected' : '--timeout';
    throw new UsageError(`${flag}: there is nothing to wait for, want --wait with it`);
  }
  const named = serviceTarget(text);
  const outcome = await withExplainSession(flags, world, async ({ caller, namespace }) => {
    const service = inNamespace(named, namespace);
    const view = createPropagationView(flags, world);
    try {
      if (flags.watch === true || flags.wait === true)
        return await followPropagation({ caller, service, flags, world, view });
      const reading = readPropagation(caller, service, world.interrupted);
      view.show(await withProgress(world, 'Asking the proxies and DNS servers', reading));
      return undefined;
    } catch (error) {
      if (!(error instanceof PropagationUnavailable)) throw error;
      throw new FailedError(error.message, { exitCode: unanswered, cause: error });
    }
  });
  if (outcome !== undefined) throw failureOf(outcome);
}

/** Findings: the question was answered. */
function failureOf(outcome: Outcome): FailedError {
  return outcome.kind === 'interrupted'
    ? new FailedError('', { exitCode: interruptedCode })
    : new FailedError(outcome.sentence);
}
