// The log level, and the stall watchdog.
import type { Command } from 'commander';
import type { LogLevel } from '../observe/log.ts';
import { logLevel } from './parse-flags.ts';

export type LogFlag = { readonly logLevel: LogLevel; readonly stallWatchdog: boolean };

export function addLogFlag(command: Command, usual: LogLevel = 'info'): Command {
  return command
    .option('--log-level <level>', 'Log level: debug, info, warn, error or silent', logLevel, usual)
    .option(
      '--no-stall-watchdog',
      'Does not log what blocks the event loop for more than a second. Saves a thread of about 9 MiB',
    );
}
