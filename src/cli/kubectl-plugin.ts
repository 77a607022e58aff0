// The program as a plugin of kubectl, started as `kubectl fairlead`.
import { Command } from 'commander';
import { addClientFlags } from '../flags/client-flags.ts';
import { addKubectlFlags } from '../flags/kubectl-flags.ts';

/** Those that are about any cluster. Others run Fairlead itself, or do what kubectl does better. */
export const pluginCommands: ReadonlySet<string> = new Set([
  'trace',
  'doctor',
  'what-if',
  'propagation',
  'history',
  'top',
]);

/** kubectl takes its flags before the command as well: `kubectl fairlead -n shop trace svc/web`. */
export function commandFirst(argv: readonly string[]): readonly string[] {
  const { options } = addKubectlFlags(addClientFlags(new Command()));
  let at = 0;
  while (at < argv.length) {
    const [flag = '', value] = (argv[at] ?? '').split('=', 2);
    const option = options.find(({ short, long }) => flag === short || flag === long);
    if (option === undefined) break;
    at += option.required && value === undefined ? 2 : 1;
  }
  const command = argv[at];
  if (at === 0 || command === undefined || command.startsWith('-')) return argv;
  return [command, ...argv.slice(0, at), ...argv.slice(at + 1)];
}
