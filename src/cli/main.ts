// The one binary: subcommands are the parts.
import { Command, CommanderError } from 'commander';
import { PrivateFileError } from '../apiserver/certificates/private-file.ts';
import { FailedError, UsageError, type World } from '../flags/command.ts';
import { tokenVariable } from '../join/read-token.ts';
import { isApiError } from '../meta/api-error.ts';
import { isStoreError } from '../storage/store-error.ts';
import { launcherVariable } from '../up/visible-pid.ts';
import { allCommands } from './commands/all.ts';
import { versionText } from './commands/version.ts';
import { describeFlag } from './describe-flag.ts';
import {
  type EndRequests,
  followControl,
  followSignals,
  readTerminal,
  starterVariable,
} from './end-requests.ts';
import { hideSecrets } from './hide-secrets.ts';
import { apiErrorText } from './output/api-error-text.ts';

/** Set where the process that started this one has something to say, through a descriptor that programs started here do not have. */
const parentVariables = [launcherVariable, starterVariable];

export async function main(argv: readonly string[]): Promise<void> {
  hideSecrets(argv);
  const interrupted = new AbortController();
  const requests: EndRequests = {
    end: () => interrupted.abort(),
    kill: (signal) => {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
  };
  followSignals(requests, readTerminal());
  // Whoever read our output may be gone; that is no reason to end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const now = (): number => Date.now();
  const env = { ...process.env };
  // Programs that this one starts are told what they need, and a token to join with is not among it.
  delete process.env[tokenVariable];
  if (parentVariables.some((name) => env[name] !== undefined)) followControl(requests);
  for (const name of parentVariables) delete process.env[name];
  const code = await run(argv, {
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    env,
    cwd: () => process.cwd(),
    now,
    startedAt: now() - process.uptime() * 1000,
    interrupted: interrupted.signal,
  });
  process.exitCode = code;
}

export async function run(argv: readonly string[], world: World): Promise<number> {
  try {
    const program = await createProgram(world, (name) => argv.includes(name));
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    return explain(error, world);
  }
}

/** With the flags of those commands that are wanted, and the names of all. */
export async function createProgram(
  world: World,
  isWanted: (name: string) => boolean = () => true,
): Promise<Command> {
  const program = new Command('fairlead')
    .description('The Kubernetes Service system as a program of its own.')
    .exitOverride()
    .configureOutput({ writeOut: world.write, writeErr: world.writeError })
    .configureHelp({ optionDescription: describeFlag })
    .version(versionText, '-V, --version', 'print the version')
    .showHelpAfterError('(run `fairlead help` for all commands)')
    .showSuggestionAfterError();
  for (const { name, summary, load } of allCommands) {
    const command = program.command(name).description(summary).exitOverride();
    command.showHelpAfterError(`(run \`fairlead help ${name}\` for its flags)`);
    command.configureOutput({ writeOut: world.write, writeErr: world.writeError });
    if (isWanted(name)) (await load()).configure(command, world);
  }
  return program;
}

function explain(error: unknown, world: World): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError || isStoreError(error) || error instanceof PrivateFileError) {
    world.writeError(`error: ${error.message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
  if (isApiError(error)) {
    world.writeError(`${apiErrorText(error)}\n`);
    return 1;
  }
  if (error instanceof FailedError) {
    if (error.message !== '') world.writeError(`${error.message}\n`);
    return error.exitCode;
  }
  world.writeError(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}
