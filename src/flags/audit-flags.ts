// The flags of the audit log; opens the log.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { type AuditLog, openAuditLog } from '../apiserver/audit/audit-log.ts';
import {
  type AuditPolicy,
  AuditPolicyError,
  metadataPolicy,
  parseAuditPolicy,
} from '../apiserver/audit/policy.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import { UsageError } from './command.ts';

export type AuditFlags = {
  readonly auditLogPath?: string;
  readonly auditPolicyFile?: string;
  readonly auditLogMaxsize: number;
  readonly auditLogMaxbackup: number;
  readonly auditLogMaxage: number;
};

export function addAuditFlags(command: Command): Command {
  return command
    .option(
      '--audit-log-path <file>',
      'File for audit events, one JSON object per line. "-" is standard output (default: no audit log)',
    )
    .option(
      '--audit-policy-file <file>',
      'Audit Policy file (audit.k8s.io/v1) (default: the level Metadata for all requests)',
    )
    .option(
      '--audit-log-maxsize <megabytes>',
      'Size in megabytes at which the audit log is rotated. 0 disables rotation',
      whole,
      100,
    )
    .option(
      '--audit-log-maxbackup <number>',
      'Number of rotated audit logs to retain. 0 retains all',
      whole,
      100,
    )
    .option(
      '--audit-log-maxage <days>',
      'Number of days to retain rotated audit logs. 0 retains them forever',
      whole,
      366,
    );
}

export type OpenAudit = { readonly policy: AuditPolicy; readonly log: AuditLog };

type World = {
  readonly cwd: string;
  readonly now: () => number;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
};

/** Undefined when there is no audit log. */
export async function openAudit(flags: AuditFlags, world: World): Promise<OpenAudit | undefined> {
  const { auditLogPath: path, auditPolicyFile } = flags;
  const policy =
    auditPolicyFile === undefined
      ? metadataPolicy
      : await readPolicy(resolve(world.cwd, auditPolicyFile));
  if (path === undefined) return undefined;
  const dropped = world.metrics
    .counter({
      name: 'apiserver_audit_error_total',
      help: 'Audit events that could not be written: the disk was too slow or full.',
    })
    .tally({ plugin: 'log' });
  try {
    const log = await openAuditLog({
      path: path === '-' ? path : resolve(world.cwd, path),
      maxBytes: flags.auditLogMaxsize * 1024 * 1024,
      maxBackups: flags.auditLogMaxbackup,
      maxAgeDays: flags.auditLogMaxage,
      now: world.now,
      log: world.log,
      onDropped: () => {
        dropped.value += 1;
      },
    });
    return { policy, log };
  } catch (error) {
    throw new UsageError(`Cannot write the audit log "${path}": ${(error as Error).message}.`);
  }
}

async function readPolicy(path: string): Promise<AuditPolicy> {
  try {
    return parseAuditPolicy(await readFile(path, 'utf8'), path);
  } catch (error) {
    if (error instanceof AuditPolicyError) throw new UsageError(error.message);
    throw new UsageError(`Cannot read the audit policy "${path}": ${(error as Error).message}.`);
  }
}

function whole(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`"${text}" is not a number; it must be a whole one, 0 or more.`);
}
