// Rights that are too small: controllers say which one they lack, try again with back-off, and go on when it is granted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportMissingRights } from '../../../src/client/missing-rights.ts';
import { allControllers } from '../../../src/controllers/all.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import type { Log, LogFields } from '../../../src/observe/log.ts';
import {
  type AuditLine,
  type RightsHarness,
  startRightsHarness,
} from '../harness/rights-harness.ts';
import { doWholeWork, leaveTraces, settingsOfWork } from '../harness/whole-work.ts';

const limit = { timeout: 280_000 };
const accountOf = (controller: string): string => `only-${controller}`;

type Said = { readonly level: string; readonly message: string; readonly fields: LogFields };

function recordingLog(said: Said[], common: LogFields = {}): Log {
  const write =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void said.push({ level, message, fields: { ...common, ...fields } });
  return {
    ...{ error: write('error'), warn: write('warn') },
    ...{ info: write('info'), debug: write('debug') },
    with: (fields) => recordingLog(said, { ...common, ...fields }),
  };
}

/** All controllers, each as a user of its own; returns how to end them. */
function startAll({ clock, sendAs }: RightsHarness, said: Said[]): () => Promise<void> {
  const stopping = new AbortController();
  const running = allControllers.map((controller) => {
    const log = recordingLog(said);
    const plain = { send: sendAs(accountOf(controller.name)), close: () => Promise.resolve() };
    return startControllers({
      transport: reportMissingRights(plain, { clock, log }),
      ...{ log, clock, authorityCertificate: 'CERTIFICATE', signal: stopping.signal },
      controllers: [controller],
      settings: settingsOfWork,
    });
  });
  return async () => {
    stopping.abort();
    await Promise.all(running);
  };
}

const isRefusal = ({ annotations, user }: AuditLine): boolean =>
  annotations?.['authorization.k8s.io/decision'] === 'forbid' && user.username.includes(':only-');

/** In the words of the log: user, verb, resource. */
function rightOf({ user, verb, objectRef }: AuditLine): string {
  const { resource = '', subresource, apiGroup = '' } = objectRef ?? {};
  const name = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${user.username} ${verb} ${apiGroup === '' ? name : `${name}.${apiGroup}`}`;
}

const loggedRights = (said: readonly Said[]): readonly string[] =>
  said
    .filter(({ message }) => message === 'Missing permission, retrying')
    .map(({ fields }) => `${fields.user} ${fields.verb} ${fields.resource}`);

test(
  'controllers without any right get each one when they have said it, and do their whole work',
  limit,
  async (t) => {
    const harness = await startRightsHarness();
    const { lines } = harness;
    const granted = new Map<string, number>();
    const granting: Promise<void>[] = [];
    const record = lines.push.bind(lines);
    // An administrator who reads the log grants what was refused twice, and nothing else.
    lines.push = (...more) => {
      for (const line of more.filter(isRefusal)) {
        const right = rightOf(line);
        const times = (granted.get(right) ?? 0) + 1;
        granted.set(right, times);
        if (times === 2) granting.push(grantOne(harness, line, granting.length));
      }
      return record(...more);
    };
    const said: Said[] = [];
    await leaveTraces(harness.server);
    const stop = startAll(harness, said);
    t.after(async () => {
      await stop();
      await harness.stop();
    });
    await doWholeWork({ api: harness.server.api, clock: harness.clock });
    await Promise.all(granting);
    assert.ok(granting.length > 100, `${granting.length} rights were granted one by one`);
    // Each refusal was logged by name.
    assert.deepEqual(new Set(loggedRights(said)), new Set(granted.keys()));
    assert.deepEqual(
      said.filter(({ level }) => level === 'error').map(({ message }) => message),
      [],
    );
  },
);

async function grantOne(
  { server }: RightsHarness,
  { user, verb, objectRef }: AuditLine,
  number: number,
): Promise<void> {
  const { resource = '', subresource, apiGroup = '' } = objectRef ?? {};
  const name = `granted-${number}`;
  const group = 'rbac.authorization.k8s.io';
  const rbac = `/apis/${group}/v1`;
  const resources = [subresource === undefined ? resource : `${resource}/${subresource}`];
  await server.api.post(`${rbac}/clusterroles`, {
    metadata: { name },
    rules: [{ apiGroups: [apiGroup], resources, verbs: [verb] }],
  });
  await server.api.post(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: group, kind: 'User', name: user.username }],
  });
}

test('who is refused for an hour asks seldom, and says it seldom', limit, async (t) => {
  const harness = await startRightsHarness();
  const said: Said[] = [];
  const stop = startAll(harness, said);
  t.after(async () => {
    await stop();
    await harness.stop();
  });
  const hourSeconds = 3600;
  for (let second = 0; second < hourSeconds; second += 10) await harness.clock.advance(10_000);
  const requested = new Map<string, number>();
  for (const line of harness.lines.filter(isRefusal))
    requested.set(rightOf(line), (requested.get(rightOf(line)) ?? 0) + 1);
  assert.ok(requested.size > 40, `${requested.size} rights were requested`);
  // The back-off of informers ends at thirty seconds.
  assert.deepEqual(
    [...requested].filter(([, times]) => times > hourSeconds / 20),
    [],
  );
  const logged = loggedRights(said);
  const often = [...new Set(logged)].filter(
    (right) => logged.filter((one) => one === right).length > 7,
  );
  assert.deepEqual(often, []);
  assert.deepEqual(new Set(logged), new Set(requested.keys()));
});
