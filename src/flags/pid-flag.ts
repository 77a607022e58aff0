// The flag --pod-max-pids, as of the kubelet.
import { type Command, InvalidArgumentError, Option } from 'commander';

export type PidFlag = { readonly podMaxPids: number };

/** More than programs need, and few enough that a fork bomb in a pod leaves the machine usable. */
const defaultPodMaxPids = 4096;
const unlimited = -1;

export function addPidFlag(command: Command): Command {
  return command.addOption(
    new Option(
      '--pod-max-pids <count>',
      'Maximum number of processes and threads per pod. -1 disables the limit',
    )
      .argParser(podMaxPids)
      .default(defaultPodMaxPids),
  );
}

function podMaxPids(text: string): number {
  const value = /^(-1|[1-9]\d{0,8})$/.test(text) ? Number(text) : undefined;
  if (value === undefined) throw new InvalidArgumentError('Expected a number from 1 on, or -1.');
  return value;
}

/** The option of runtimes. */
export function maxPidsOf({ podMaxPids: max }: PidFlag): { readonly maxPids?: number } {
  return max === unlimited ? {} : { maxPids: max };
}
