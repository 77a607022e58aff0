// Writers that note what was acknowledged, and what was under way when the server died.
import assert from 'node:assert/strict';
import type { Service } from '../../src/kinds/service/types.ts';
import type { Answer, ApiClient } from '../parts/harness/api-client.ts';
import type { Random } from '../parts/harness/random.ts';

export const collection = '/api/v1/namespaces/default/services';

/** A service as far as the test decides it. */
export type State = { readonly attempt: string; readonly type: string; readonly version: string };

export type Record = {
  /** As the last answer said; absent: there is none. */
  acknowledged: State | undefined;
  /** What was asked and not answered: the state it would lead to, without a version. */
  pending: { readonly wanted: Omit<State, 'version'> | undefined } | undefined;
};

export type Records = Map<string, Record>;

const types = ['ClusterIP', 'NodePort', 'LoadBalancer'] as const;
const namesOfEach = 8;

/** One request after the other until the connection dies. Calls `answered` for each that was acknowledged. */
export async function write(
  api: ApiClient,
  { records, round, writer, random, answered }: WriterOptions,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const name = `w${writer}-${random.below(namesOfEach)}`;
    const record = records.get(name) ?? { acknowledged: undefined, pending: undefined };
    records.set(name, record);
    const isThere = record.acknowledged !== undefined;
    const goes = isThere && random.below(4) === 0;
    const wanted = goes
      ? undefined
      : { attempt: `${round}-${writer}-${attempt}`, type: random.pick(types) };
    record.pending = { wanted };
    // The server is killed at any moment: a request that fails, however it does, is the last one of the round.
    const answer = await request(api, name, { isThere, wanted, random }).catch(() => undefined);
    if (answer === undefined) return;
    assert.ok(answer.status < 300, `${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    record.acknowledged = goes ? undefined : stateOf(answer.body);
    record.pending = undefined;
    answered();
  }
}

export type WriterOptions = {
  readonly records: Records;
  /** Makes turns differ from those of earlier rounds. */
  readonly round: number;
  readonly writer: number;
  readonly random: Random;
  readonly answered: () => void;
};

type WriteRequest = {
  readonly isThere: boolean;
  readonly wanted: Omit<State, 'version'> | undefined;
  readonly random: Random;
};

function request(
  api: ApiClient,
  name: string,
  { isThere, wanted, random }: WriteRequest,
): Promise<Answer<Service>> {
  const path = `${collection}/${name}`;
  if (wanted === undefined) return api.send({ method: 'DELETE', path });
  const { attempt, type } = wanted;
  const annotations = { attempt };
  if (isThere) {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = { metadata: { annotations }, spec: { type } };
    return api.send({ method: 'PATCH', path, body, headers });
  }
  const ipFamilyPolicy = random.pick(['SingleStack', 'PreferDualStack']);
  const spec = { type, ipFamilyPolicy, ports: [{ port: 80 }] };
  return api.send({
    method: 'POST',
    path: collection,
    body: { metadata: { name, annotations }, spec },
  });
}

export function stateOf({ metadata, spec }: Service): State {
  return {
    attempt: metadata.annotations?.attempt ?? '',
    type: spec.type ?? '',
    version: metadata.resourceVersion ?? '',
  };
}

/** Each name is as it was acknowledged, or as the request under way wanted it; and so it is noted. */
export function verify(records: Records, services: readonly Service[]): void {
  const found = new Map(services.map((service) => [service.metadata.name ?? '', stateOf(service)]));
  for (const [name, record] of records) {
    const { acknowledged, pending } = record;
    const actual = found.get(name);
    const isAsWanted =
      pending !== undefined &&
      actual?.attempt === pending.wanted?.attempt &&
      actual?.type === pending.wanted?.type;
    if (!isAsWanted) assert.deepEqual(actual, acknowledged, name);
    if (isAsWanted && actual !== undefined && acknowledged !== undefined) {
      assert.ok(Number(actual.version) > Number(acknowledged.version), `${name} went back`);
    }
    record.acknowledged = actual;
    record.pending = undefined;
  }
  const unknown = [...found.keys()].filter((name) => name !== 'kubernetes' && !records.has(name));
  assert.deepEqual(unknown, [], 'services that no writer wrote');
}
