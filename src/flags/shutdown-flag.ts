// The grace period of containers when the node shuts down, as shutdownGracePeriod of KubeletConfiguration.
import { type Command, Option } from 'commander';
import { defaultShutdownGraceMs } from '../node/node-parts.ts';
import { duration, formatDuration } from './parse-values.ts';

export type ShutdownFlag = {
  /** In milliseconds. */
  readonly shutdownGracePeriod: number;
};

export function addShutdownFlag(command: Command): Command {
  return command.addOption(
    new Option(
      '--shutdown-grace-period <time>',
      'Time that containers get to terminate when the node shuts down. Statuses are written for up to 5s more',
    )
      .argParser(duration())
      .default(defaultShutdownGraceMs, formatDuration(defaultShutdownGraceMs)),
  );
}
