// The entry point of the program: subcommands are the parts.
import { setMaxListeners } from 'node:events';
import { Command, CommanderError } from 'commander';
import { PrivateFileError } from '../apiserver/certificates/private-file.ts';
import { FailedError, type Terminal, UsageError, type World } from '../flags/command.ts';
import { addKubectlFlags } from '../flags/kubectl-flags.ts';
import { tokenVariable } from '../join/read-token.ts';
import { isApiError } from '../meta/api-error.ts';
import { printableLines } from '../meta/printable.ts';
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
import { commandFirst, pluginCommands } from './kubectl-plugin.ts';
import { apiErrorText } from './output/api-error-text.ts';
import { createLineReader } from './read-line.ts';

/** Set by a parent process that sends requests through a descriptor, which programs started here do not inherit. */
const parentVariables = [launcherVariable, starterVariable];

export type MainOptions = Pick<World, 'isKubectlPlugin'>;

export async function main(argv: readonly string[], options: MainOptions = {}): Promise<void> {
  hideSecrets(argv);
  const interrupted = new AbortController();
  // Every request listens, and a command sends many at once.
  setMaxListeners(0, interrupted.signal);
  const requests: EndRequests = {
    end: () => interrupted.abort(),
    kill: (signal) => {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
  };
  followSignals(requests, readTerminal());
  // Ignore errors such as EPIPE: a reader of the output that has exited is no reason to stop.
  let isOutputClosed = false;
  process.stdout.on('error', () => {
    isOutputClosed = true;
  });
  process.stderr.on('error', () => {});
  const now = (): number => Date.now();
  const env = { ...process.env };
  // Child processes must not inherit the bootstrap token.
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
    ...(process.stdout.isTTY ? { terminal: currentTerminal } : {}),
    ...(process.stdin.isTTY
      ? { readLine: createLineReader(process.stdin, interrupted.signal) }
      : {}),
    interrupted: interrupted.signal,
    isOutputClosed: () => isOutputClosed,
    ...options,
  });
  process.exitCode = code;
}

/** It may be resized while a command runs. */
const currentTerminal: Terminal = {
  get columns() {
    return process.stdout.columns;
  },
  get rows() {
    return process.stdout.rows;
  },
};

export async function run(argv: readonly string[], world: World): Promise<number> {
  try {
    const program = await createProgram(world, (name) => argv.includes(name));
    const words = world.isKubectlPlugin === true ? commandFirst(argv) : argv;
    await program.parseAsync([...words], { from: 'user' });
    return 0;
  } catch (error) {
    return explain(error, world);
  }
}

/** With the flags of the requested commands, and the names of all. */
export async function createProgram(
  world: World,
  isWanted: (name: string) => boolean = () => true,
): Promise<Command> {
  const isPlugin = world.isKubectlPlugin === true;
  const { name: called, description, commands } = isPlugin ? plugin : standalone;
  const program = new Command(called)
    .description(description)
    .exitOverride()
    .configureOutput({ writeOut: world.write, writeErr: world.writeError })
    .configureHelp({ optionDescription: describeFlag })
    .version(versionText, '-V, --version', 'print the version')
    .showHelpAfterError(`(run \`${called} help\` for all commands)`)
    .showSuggestionAfterError();
  for (const { name, summary, load } of commands) {
    const command = program.command(name).description(summary).exitOverride();
    command.showHelpAfterError(`(run \`${called} help ${name}\` for its flags)`);
    command.configureOutput({ writeOut: world.write, writeErr: world.writeError });
    if (!isWanted(name)) continue;
    (await load()).configure(command, world);
    if (isPlugin) addKubectlFlags(command);
  }
  return program;
}

const standalone = {
  name: 'fairlead',
  description: 'The Kubernetes Service system as a program of its own.',
  commands: allCommands,
};

const plugin = {
  name: 'kubectl fairlead',
  description: 'Explains the Services of a cluster, with nothing installed in it.',
  commands: allCommands.filter(({ name }) => pluginCommands.has(name)),
};

/** Messages contain what others wrote, such as an API server. */
function explain(error: unknown, world: World): number {
  const say = (text: string): void => world.writeError(`${printableLines(text)}\n`);
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError || isStoreError(error) || error instanceof PrivateFileError) {
    say(`error: ${error.message}`);
    return error instanceof UsageError ? 2 : 1;
  }
  if (isApiError(error)) {
    say(apiErrorText(error));
    return 1;
  }
  if (error instanceof FailedError) {
    if (error.message !== '') say(error.message);
    return error.exitCode;
  }
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}
