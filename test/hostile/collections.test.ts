// Requests over very many objects: none blocks the event loop for as long as it takes to process all of them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLocalCall } from '../../src/apiserver/local-call.ts';
import type { KubeObject } from '../../src/meta/object.ts';
import { type MemoryServer, startMemoryServer } from '../parts/harness/memory-server.ts';
import { type MainThreadMeter, measureMainThread } from './measure-main-thread.ts';

const objects = 20_000;
/** CPU time of the main thread in one go. The goal is 50 ms, by hand. */
const maxMs = 100;
const configMaps = '/api/v1/namespaces/default/configmaps';

let memory: MemoryServer;
let call: ReturnType<typeof createLocalCall>;
let meter: MainThreadMeter;

/** Where all are there; what is written later makes a list of it one of the past. */
let pastRevision = '';

async function createAll(): Promise<void> {
  const numbers = Array.from({ length: objects }, (_, n) => n).values();
  const createSome = async (): Promise<void> => {
    for (const n of numbers) {
      const metadata = { name: `c-${(n * 7919) % objects}`, labels: { a: `v${n}` } };
      const body = JSON.stringify({ metadata, data: { text: 'x'.repeat(500) } });
      const answer = await call({ method: 'POST', path: configMaps, body });
      assert.equal(answer.status, 201);
    }
  };
  await Promise.all(Array.from({ length: 16 }, createSome));
  const [first, last] = ['before', 'after'].map((name) => JSON.stringify({ metadata: { name } }));
  const created = await call({ method: 'POST', path: configMaps, body: first ?? '' });
  let text = '';
  for await (const chunk of created.body) text += Buffer.from(chunk).toString();
  pastRevision = (JSON.parse(text) as KubeObject).metadata.resourceVersion ?? '';
  await call({ method: 'POST', path: configMaps, body: last ?? '' });
}

type TestRequest = { readonly method?: string; readonly path: string; readonly accept?: string };

/** How many bytes came, and the longest hold of the event loop meanwhile. */
async function send({ method = 'GET', path, accept }: TestRequest) {
  const controller = new AbortController();
  meter.maxMs();
  const headers = accept === undefined ? {} : { accept };
  const answer = await call({ method, path, headers, signal: controller.signal });
  assert.equal(answer.status, 200);
  let bytes = 0;
  for await (const chunk of answer.body) bytes += chunk.length;
  await new Promise((resolve) => setImmediate(resolve));
  return { bytes, ms: meter.maxMs() };
}

describe(`requests over ${objects} objects`, { skip: process.platform !== 'linux' }, () => {
  before(async () => {
    memory = await startMemoryServer();
    call = createLocalCall(memory.server.handle, { user: 'admin', groups: ['system:masters'] });
    meter = measureMainThread();
    await createAll();
  });
  after(async () => {
    meter.stop();
    await memory.stop();
  });
  const values = Array.from({ length: 1_000 }, (_, n) => `w${n}`).join(',');
  const selector = encodeURIComponent(`a notin (${values})`);
  const none = encodeURIComponent(`a in (${values})`);
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  const protobuf = 'application/vnd.kubernetes.protobuf';
  const watching = `${configMaps}?watch=true&timeoutSeconds=1`;
  const requests: Readonly<Record<string, TestRequest & { readonly minBytes?: number }>> = {
    'a list': { path: configMaps, minBytes: objects * 500 },
    'a list in protobuf': { path: configMaps, accept: protobuf, minBytes: objects * 500 },
    'a Table': { path: configMaps, accept: table, minBytes: objects * 100 },
    'a list of metadata': { path: configMaps, accept: partial, minBytes: objects * 100 },
    'a selector of 1,000 values': {
      path: `${configMaps}?labelSelector=${selector}`,
      minBytes: objects * 500,
    },
    'a selector that nothing fits': { path: `${configMaps}?labelSelector=${none}` },
    'pages of a selector that nothing fits': {
      path: `${configMaps}?limit=5&labelSelector=${none}`,
    },
    'a watch that begins with all': { path: watching, minBytes: objects * 500 },
    'a watch of a selector that nothing fits': { path: `${watching}&labelSelector=${none}` },
    'a watch in protobuf': { path: watching, accept: `${protobuf};stream=watch` },
    'deleting all': { method: 'DELETE', path: configMaps, minBytes: objects * 500 },
  };
  it('a list of the past', async (t) => {
    const path = `${configMaps}?resourceVersion=${pastRevision}&resourceVersionMatch=Exact`;
    const { bytes, ms } = await send({ path });
    t.diagnostic(`${Math.round(ms)} ms`);
    assert.ok(bytes >= objects * 500, `only ${bytes} bytes`);
    assert.ok(ms <= maxMs / 2, `${Math.round(ms)} ms of the event loop`);
  });
  for (const [name, { minBytes = 0, ...request }] of Object.entries(requests)) {
    it(name, async (t) => {
      const { bytes, ms } = await send(request);
      t.diagnostic(`${Math.round(ms)} ms`);
      assert.ok(bytes >= minBytes, `only ${bytes} bytes`);
      assert.ok(ms <= maxMs, `${Math.round(ms)} ms of the event loop`);
    });
  }
});
