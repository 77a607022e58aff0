import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureAnswer, jsonAnswer, scriptedTransport } from '../client/example.ts';
import type { TransportRequest, TransportResponse } from '../client/transport.ts';
import { readTraffic, type TrafficQuery, TrafficUnavailable } from './read-traffic.ts';

const query: TrafficQuery = { intervalMs: 2000, signal: new AbortController().signal };

function read(
  answer: (request: TransportRequest) => TransportResponse,
  scope: Partial<TrafficQuery> = {},
) {
  const transport = scriptedTransport(answer);
  const reading = readTraffic({ transport, userAgent: 'test' }, { ...query, ...scope });
  return { reading, paths: () => transport.requests.map(({ path }) => path) };
}

const root = '/apis/parts.fairlead.dev/v1alpha1';
const isDiscovery = ({ path }: TransportRequest): boolean => path === root;
const unavailable = (pattern: RegExp) => (error: unknown) =>
  error instanceof TrafficUnavailable && pattern.test(error.message);

describe('readTraffic()', () => {
  const scopes: readonly (readonly [Partial<TrafficQuery>, string])[] = [
    [{}, `${root}/traffics`],
    [{ namespace: 'a' }, `${root}/namespaces/a/traffics`],
    [{ namespace: 'a', name: 'b' }, `${root}/namespaces/a/traffics/b`],
  ];
  for (const [scope, path] of scopes) {
    it(`requests ${path}`, async () => {
      const { reading, paths } = read(() => jsonAnswer({ items: [] }), scope);
      assert.deepEqual(await reading, []);
      assert.deepEqual(paths(), [`${path}?intervalMilliseconds=2000`]);
    });
  }
  for (const [code, reason] of [
    [404, 'NotFound'],
    [403, 'Forbidden'],
  ] as const) {
    it(`says that a server is not of Fairlead where it answers ${code}`, async () => {
      const { reading } = read((request) =>
        isDiscovery(request) ? failureAnswer(404, 'NotFound') : failureAnswer(code, reason),
      );
      await assert.rejects(
        reading,
        unavailable(/^Traffic is measured by the node proxies of Fairlead/),
      );
    });
  }
  it('says that a server of Fairlead is too old', async () => {
    const { reading } = read((request) =>
      isDiscovery(request) ? jsonAnswer({}) : failureAnswer(404, 'NotFound'),
    );
    await assert.rejects(reading, unavailable(/release/));
  });
  it('throws what a server of Fairlead refuses', async () => {
    const { reading } = read((request) =>
      isDiscovery(request) ? jsonAnswer({}) : failureAnswer(403, 'Forbidden'),
    );
    await assert.rejects(reading, { name: 'ApiError' });
  });
  it('does not take something else for an answer', async () => {
    await assert.rejects(read(() => jsonAnswer({ items: 'x' })).reading, unavailable(/no list/));
  });
});
