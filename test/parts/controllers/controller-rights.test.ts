// Each controller with exactly the rights that it declares: no request is refused, and every right is used.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allControllers } from '../../../src/controllers/all.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import { mayRecordEvents } from '../../../src/kinds/rbac/rights.ts';
import { silentLog } from '../../../src/observe/log.ts';
import {
  type RightsHarness,
  refusals,
  startRightsHarness,
  unused,
  withoutStreams,
} from '../harness/rights-harness.ts';
import { doWholeWork, leaveTraces, settingsOfWork } from '../harness/whole-work.ts';

const accountOf = (controller: string): string => `only-${controller}`;
let harness: RightsHarness;
const stopping = new AbortController();
let running: readonly Promise<void>[] = [];

before(async () => {
  harness = await startRightsHarness();
  for (const { name, watches, rights } of allControllers)
    await harness.grant(accountOf(name), [...watches, ...rights]);
  await leaveTraces(harness.server);
  running = allControllers.map((controller) =>
    startControllers({
      transport: {
        send: withoutStreams(harness.sendAs(accountOf(controller.name))),
        close: () => Promise.resolve(),
      },
      log: silentLog,
      authorityCertificate: 'CERTIFICATE',
      signal: stopping.signal,
      clock: harness.clock,
      controllers: [controller],
      settings: settingsOfWork,
    }),
  );
  await doWholeWork({ api: harness.server.api, clock: harness.clock });
});
after(async () => {
  stopping.abort();
  await Promise.all(running);
  await harness.stop();
});

for (const { name, watches, rights } of allControllers) {
  test(`${name} has all rights it needs`, () => {
    assert.deepEqual(refusals(harness.lines, accountOf(name)), []);
  });

  test(`${name} uses every right it declares`, () => {
    // Events are rare, and only repeated ones are patched: not every controller records both here.
    const shown = [...watches, ...rights].filter((right) => right !== mayRecordEvents);
    assert.deepEqual(unused(harness.lines, accountOf(name), shown), []);
  });
}
