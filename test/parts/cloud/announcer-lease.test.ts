// An announcer's lease, against the real API server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resourceClient } from '../../../src/client/rest.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { leaseNamespace } from '../../../src/cloud/announce/lease-observer.ts';
import { type OwnLease, startOwnLease } from '../../../src/cloud/announce/run-lease.ts';
import { leaseDefinition } from '../../../src/kinds/lease/definition.ts';
import type { Node } from '../../../src/kinds/node/types.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { type CloudHarness, startCloudHarness } from '../harness/cloud-harness.ts';

let harness: CloudHarness;
before(async () => {
  harness = await startCloudHarness();
});
after(() => harness.stop());

const leaseMs = 3000;

function start(
  nodeName: string,
  isReady: () => boolean,
  { send = harness.direct, node }: { readonly send?: Transport['send']; readonly node?: Node } = {},
): OwnLease & { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const caller = { transport: { send, close: () => Promise.resolve() }, userAgent: 'test' };
  const own = startOwnLease(
    {
      ...{ caller, clock: harness.clock, nodeName, log: silentLog, leaseMs },
      node: () => node,
      isReady: async () => isReady(),
      tried: () => {},
    },
    stopping.signal,
  );
  return {
    ...own,
    async stop() {
      stopping.abort();
      await own.ended;
    },
  };
}

async function held(): Promise<readonly string[]> {
  const caller = {
    transport: { send: harness.direct, close: () => Promise.resolve() },
    userAgent: 'test',
  };
  const { items } = await resourceClient(caller, leaseDefinition).list({
    namespace: leaseNamespace,
  });
  return items.map(({ spec, metadata }) =>
    [spec.holderIdentity, ...(metadata.ownerReferences ?? []).map(({ kind }) => kind)].join(),
  );
}

test('a node has a lease while its proxy is ready; one miss is forgiven, two are not', async () => {
  const answers = [false, false, true, false, true, false, false];
  let requests = 0;
  let isReady = true;
  const own = start('n1', () => {
    requests += 1;
    return answers.shift() ?? isReady;
  });
  await harness.until('two answers', async () => requests >= 2);
  assert.deepEqual([own.renewedAt(), await held()], [undefined, []]);
  await harness.until('it is ready', async () => own.renewedAt() !== undefined);
  await harness.until('a miss and an answer', async () => requests >= 5);
  assert.deepEqual(await held(), ['n1']);
  assert.ok(own.renewedAt() !== undefined);
  await harness.until('two misses', async () => own.renewedAt() === undefined);
  await harness.until('it is given up', async () => (await held()).length === 0);
  await harness.until('it is there again', async () => (await held()).length === 1);
  isReady = false;
  await own.stop();
  assert.deepEqual(await held(), []);
});

test('the lease belongs to its node', async () => {
  const node = await harness.api.post<Node>('/api/v1/nodes', { metadata: { name: 'n2' } });
  const own = start('n2', () => true, { node });
  await harness.until('it is there', async () => (await held()).includes('n2,Node'));
  await own.stop();
});

test('a server that does not answer does not hold up the end', async () => {
  let isSilent = false;
  const send: Transport['send'] = (request) =>
    isSilent
      ? new Promise((_resolve, reject) => {
          request.signal?.addEventListener('abort', () => reject(new Error('given up')));
        })
      : harness.direct(request);
  const own = start('n3', () => true, { send });
  await harness.until('it is there', async () => (await held()).includes('n3'));
  isSilent = true;
  await harness.clock.advance(leaseMs);
  await own.stop();
});
