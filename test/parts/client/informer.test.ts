// Informers against the whole API server: whatever happens to their connections, the copy becomes the state.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { startInformer } from '../../../src/client/informer.ts';
import { resourceClient } from '../../../src/client/rest.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import { configMapDefinition } from '../../../src/kinds/config-map/definition.ts';
import type { ConfigMap } from '../../../src/kinds/config-map/types.ts';
import { objectKey } from '../../../src/meta/object.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

let server: MemoryServer;
let local: Transport;

before(async () => {
  server = await startMemoryServer();
  const send = createLocalCall(server.server.handle, { user: 'test', groups: ['system:masters'] });
  local = { send, close: () => Promise.resolve() };
});
after(async () => server.stop());

/** Cuts every stream after so many chunks, and refuses every so-many-th request. */
function unreliable(transport: Transport, random: () => number): Transport {
  return {
    ...transport,
    send: async (request) => {
      if (random() < 0.2) throw new Error('connection refused');
      const response = await transport.send(request);
      const isWatch = request.path.includes('watch=true');
      return isWatch
        ? { ...response, body: cut(response.body, Math.floor(random() * 12)) }
        : response;
    },
  };
}

async function* cut(body: AsyncIterable<Uint8Array>, chunks: number): AsyncIterable<Uint8Array> {
  let left = chunks;
  for await (const chunk of body) {
    if (left <= 0) {
      yield chunk.subarray(0, Math.floor(chunk.length / 2));
      throw new Error('connection reset');
    }
    left -= 1;
    yield chunk;
  }
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

for (const seed of [1, 2, 3, 4]) {
  test(`startInformer() misses nothing over broken connections, seed ${seed}`, async () => {
    const random = seeded(seed);
    const clock = createFakeClock();
    const stop = new AbortController();
    const namespace = `seed-${seed}`;
    await server.api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const client = resourceClient({ transport: local, userAgent: 'writer' }, configMapDefinition);
    const informer = startInformer(
      {
        caller: { transport: unreliable(local, random), userAgent: 'reader' },
        type: configMapDefinition,
        namespace,
        clock,
        log: silentLog,
        random,
      },
      stop.signal,
    );
    const notified = new Map<string, string>();
    const note = ({ metadata }: ConfigMap): void => {
      notified.set(objectKey(metadata), metadata.resourceVersion ?? '');
    };
    informer.onChange({
      add(object) {
        assert.equal(notified.has(objectKey(object.metadata)), false, 'added twice');
        note(object);
      },
      update: (_before, object) => note(object),
      delete: ({ metadata }) =>
        assert.equal(notified.delete(objectKey(metadata)), true, 'deleted unseen'),
    });
    for (let step = 0; step < 150; step += 1) {
      await changeSomething(client, namespace, random);
      if (step === 75) await server.store.compact(await server.store.currentRevision());
      if (random() < 0.3) await clock.advance(random() * 200);
    }
    const { items } = await client.list({ namespace });
    const wanted = new Map(
      items.map(({ metadata }) => [objectKey(metadata), metadata.resourceVersion ?? '']),
    );
    const same = (): boolean =>
      notified.size === wanted.size &&
      [...wanted].every(([key, version]) => notified.get(key) === version);
    for (let round = 0; round < 200 && !same(); round += 1) await clock.advance(1000);
    assert.deepEqual(notified, wanted);
    stop.abort();
    await informer.ended;
  });
}

async function changeSomething(
  client: ReturnType<typeof resourceClient<ConfigMap>>,
  namespace: string,
  random: () => number,
): Promise<void> {
  const name = `object-${Math.floor(random() * 10)}`;
  const object: ConfigMap = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace } };
  const { items } = await client.list({ namespace, fieldSelector: `metadata.name=${name}` });
  if (items.length === 0) await client.create(object);
  else if (random() < 0.5) await client.delete({ namespace, name });
  else
    await client.patch(
      { namespace, name },
      { data: { value: String(random()) } },
      { type: 'merge' },
    );
}
