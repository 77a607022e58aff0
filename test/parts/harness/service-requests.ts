// Requests about Services, and what is worth comparing in their answers.
import assert from 'node:assert/strict';
import type { Service, ServiceSpec } from '../../../src/kinds/service/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import type { Answer, ApiClient } from './api-client.ts';

/** As a client writes it, right or wrong. */
export type Sent = Readonly<Record<string, unknown>>;

export const services = '/api/v1/namespaces/default/services';

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export type ServiceRequests = {
  /** Under a name of its own, unless the metadata has one; `query` with its question mark. */
  readonly create: (spec: Sent, metadata?: Sent, query?: string) => Promise<Answer<Service>>;
  /** The name of a service that was created without complaint. */
  readonly have: (spec: Sent, metadata?: Sent) => Promise<string>;
  readonly read: (name: string) => Promise<Service>;
  readonly put: (name: string, spec: Sent, metadata?: Sent) => Promise<Answer<Service>>;
  /** `at` is what follows the path of services: a name, a subresource, a query. */
  readonly patch: (
    at: string,
    body: unknown,
    type?: keyof typeof patchTypes,
  ) => Promise<Answer<Service>>;
};

export function serviceRequests(api: () => ApiClient): ServiceRequests {
  let count = 0;
  const body = (metadata: Sent, spec: Sent): Sent => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec,
  });
  const create: ServiceRequests['create'] = (spec, metadata = {}, query = '') => {
    count += 1;
    const named = { name: `s${count}`, ...metadata };
    return api().send({ method: 'POST', path: services + query, body: body(named, spec) });
  };
  return {
    create,
    async have(spec, metadata) {
      const answer = await create(spec, metadata);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body.metadata.name ?? '';
    },
    read: (name) => api().get(`${services}/${name}`),
    put: (name, spec, metadata = {}) =>
      api().send({
        method: 'PUT',
        path: `${services}/${name}`,
        body: body({ name, ...metadata }, spec),
      }),
    patch: (at, patch, type = 'merge') =>
      api().send({
        method: 'PATCH',
        path: `${services}/${at}`,
        body: patch,
        headers: { 'content-type': patchTypes[type] },
      }),
  };
}

/** `reason field: message` of each cause, in order; the whole answer where it is no refusal. */
export function causes({ status, body }: Answer<unknown>): readonly string[] {
  const { details } = body as Status;
  assert.equal(status, 422, JSON.stringify(body));
  return (details?.causes ?? []).map(
    ({ reason, field, message }) => `${reason?.replace('FieldValue', '')} ${field}: ${message}`,
  );
}

/** The texts of the Warning headers. */
export function warnings({ headers }: Answer<unknown>): readonly string[] {
  const text = String(headers.warning ?? '');
  return [...text.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((match) =>
    String(match[1]).replaceAll('\\"', '"'),
  );
}

/** The fields of the spec that the wanted one has. */
export function assertSpec({ status, body }: Answer<Service>, wanted: Sent): void {
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  const spec: Sent = body.spec satisfies ServiceSpec;
  const picked = Object.fromEntries(Object.keys(wanted).map((field) => [field, spec[field]]));
  assert.deepEqual(picked, wanted);
}
