import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Command } from 'commander';
import { metadataPolicy } from '../apiserver/audit/policy.ts';
import { silentLog } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { addAuditFlags, openAudit } from './audit-flags.ts';
import { UsageError } from './command.ts';

let cwd = '';

function open(...args: readonly string[]) {
  const flags = addAuditFlags(new Command())
    .parse([...args], { from: 'user' })
    .opts();
  const world = { cwd, now: Date.now, log: silentLog, metrics: createMetrics() };
  return openAudit(flags as Parameters<typeof openAudit>[0], world);
}

describe('flags of the audit log', () => {
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'fairlead-audit-flags-'));
  });
  afterEach(() => rm(cwd, { recursive: true }));

  test('openAudit() opens nothing unless a path is given', async () => {
    assert.equal(await open(), undefined);
  });

  test('openAudit() opens the log with the policy of the file, or metadata of all', async () => {
    const plain = await open('--audit-log-path', 'audit.log');
    assert.equal(plain?.policy, metadataPolicy);
    plain?.log.write('line\n');
    await plain?.log.close();
    assert.equal(await readFile(join(cwd, 'audit.log'), 'utf8'), 'line\n');
    await writeFile(
      join(cwd, 'policy.yaml'),
      '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Request}]}',
    );
    const ruled = await open('--audit-log-path', 'audit.log', '--audit-policy-file', 'policy.yaml');
    assert.equal(ruled?.policy.rules[0]?.level, 'Request');
    await ruled?.log.close();
  });

  test('openAudit() says what is wrong with the policy or the place', async () => {
    await writeFile(join(cwd, 'bad.yaml'), 'kind: Policy');
    for (const [args, why] of [
      [
        ['--audit-policy-file', 'none.yaml'],
        /^Cannot read the audit policy ".*none\.yaml": ENOENT/,
      ],
      [
        ['--audit-policy-file', 'bad.yaml'],
        /^Cannot use the audit policy ".*bad\.yaml": apiVersion/,
      ],
      [
        ['--audit-log-path', 'no/audit.log'],
        /^Cannot write the audit log "no\/audit\.log": ENOENT/,
      ],
    ] as const) {
      await assert.rejects(
        open(...args),
        (error) => error instanceof UsageError && why.test(error.message),
      );
    }
  });
});
