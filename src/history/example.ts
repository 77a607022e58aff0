// A Service with its pods and slices, for tables.
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import type { KubeObject } from '../meta/object.ts';
import { serviceNameLabel } from '../meta/well-known-labels.ts';
import type { PastChange, PastKind } from './past.ts';

export const exampleService = (spec: object = {}, metadata: object = {}): Service =>
  ({
    ...{ apiVersion: 'v1', kind: 'Service' },
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', ...metadata },
    spec: { type: 'ClusterIP', selector: { app: 'web' }, ports: [{ port: 80 }], ...spec },
    status: {},
  }) as unknown as Service;

export type ExampleEndpoint = {
  readonly address: string;
  readonly pod?: string;
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
};

export const exampleSlice = (
  endpoints: readonly ExampleEndpoint[],
  { name = 'web-x', ports = [{ port: 8080 }] }: { name?: string; ports?: readonly object[] } = {},
): EndpointSlice =>
  ({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
    metadata: { name, namespace: 'shop', labels: { [serviceNameLabel]: 'web' } },
    ...{ addressType: 'IPv4', ports },
    endpoints: endpoints.map(
      ({ address, pod, ready = true, serving = ready, terminating = false }) => ({
        addresses: [address],
        conditions: { ready, serving, terminating },
        ...(pod === undefined ? {} : { targetRef: { kind: 'Pod', name: pod }, nodeName: 'a' }),
      }),
    ),
  }) as unknown as EndpointSlice;

export const examplePod = (status: object = {}, metadata: object = {}, spec: object = {}): Pod =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'web' }, ...metadata },
    spec: { containers: [{ name: 'c' }], ...spec },
    status: { phase: 'Running', ...status },
  }) as unknown as Pod;

export const exampleNode = (ready: string, spec: object = {}): Node =>
  ({
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec },
    status: {
      conditions: [{ type: 'Ready', status: ready, reason: 'KubeletStopped', message: '' }],
    },
  }) as unknown as Node;

/** Revisions and seconds count from 1. */
export function exampleChanges(
  ...all: readonly (readonly [PastKind, PastChange['type'], KubeObject])[]
): readonly PastChange[] {
  return all.map(([kind, type, object], at) => ({
    ...{ kind, type, object, revision: String(at + 1), timeMs: (at + 1) * 1000 },
    ...{ user: 'alice', manager: 'kubectl' },
  }));
}
