// Builders for tests: slices of the Service `default/web`.
import type { Endpoint, EndpointSlice, SlicePort } from '../../kinds/endpoint-slice/types.ts';
import { serviceNameLabel } from '../../meta/well-known-labels.ts';
import { createTrimmer, type TrimmedSlice } from './trim-objects.ts';

export type SliceParts = {
  readonly name?: string;
  readonly service?: string;
  readonly addressType?: EndpointSlice['addressType'];
  readonly ports?: readonly SlicePort[];
};

export function exampleSlice(
  endpoints: readonly Endpoint[],
  { name = 'web-1', service = 'web', addressType = 'IPv4', ports }: SliceParts = {},
): EndpointSlice {
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name, namespace: 'default', labels: { [serviceNameLabel]: service } },
    addressType,
    endpoints,
    ports: ports ?? [{ name: '', protocol: 'TCP', port: 9376 }],
  };
}

/** The same as the proxy keeps it. */
export function trimmedSlice(endpoints: readonly Endpoint[], parts: SliceParts = {}): TrimmedSlice {
  return createTrimmer().slice(exampleSlice(endpoints, parts));
}

/** An endpoint in a word: `1.11` is 10.244.1.11 on node n1; `!` not ready, `~` terminating but serving, `x` terminating. */
export function exampleEndpoint(word: string, parts: Partial<Endpoint> = {}): Endpoint {
  const [, state = '', node = '', host = ''] = /^([!~x]?)(\d+)\.(\d+)$/.exec(word) ?? [];
  const conditions = {
    '': { ready: true, serving: true, terminating: false },
    '!': { ready: false, serving: false, terminating: false },
    '~': { ready: false, serving: true, terminating: true },
    x: { ready: false, serving: false, terminating: true },
  }[state];
  return {
    addresses: [`10.244.${node}.${host}`],
    conditions: conditions ?? {},
    nodeName: `n${node}`,
    ...parts,
  };
}
