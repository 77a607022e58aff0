// How much a part says of what it does.
import type { Command } from 'commander';
import type { LogLevel } from '../observe/log.ts';
import { logLevel } from './parse-flags.ts';

export type LogFlag = { readonly logLevel: LogLevel };

export function addLogFlag(command: Command, usual: LogLevel = 'info'): Command {
  return command.option(
    '--log-level <level>',
    'debug, info, warn, error or silent',
    logLevel,
    usual,
  );
}
