import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { serviceNameLabel, sliceManagedByLabel } from '../meta/well-known-labels.ts';
import { makeSnapshot } from '../snapshot/snapshot.ts';
import { examplePart, examplePropagation } from './example.ts';
import { isComplete } from './is-complete.ts';
import { hasStaleSlices, type ServiceObjects } from './stale-slices.ts';

const service = (spec: object = {}): Service =>
  ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', resourceVersion: '5' } },
    spec: {
      selector: { app: 'web' },
      ports: [{ port: 80, targetPort: 8080 }],
      ipFamilies: ['IPv4'],
      ...spec,
    },
  }) as unknown as Service;

const pod = (ip: string, ready: boolean, metadata: object = {}): Pod =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: ip, uid: ip, ...metadata } },
    spec: { nodeName: 'a', containers: [] },
    status: {
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  }) as unknown as Pod;

const slice = (
  endpoints: readonly object[],
  manager = 'endpointslice-controller.k8s.io',
): EndpointSlice =>
  ({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', ports: [] },
    metadata: {
      name: 'web-x',
      resourceVersion: '7',
      labels: { [serviceNameLabel]: 'web', [sliceManagedByLabel]: manager },
    },
    endpoints,
  }) as unknown as EndpointSlice;

const endpoint = (ip: string, ready: boolean, terminating = false): object => ({
  addresses: [ip],
  targetRef: { kind: 'Pod', name: ip, uid: ip },
  conditions: { ready: ready && !terminating, serving: ready, terminating },
  zone: 'what nodes add',
});

const objects = (
  pods: readonly Pod[],
  slices: readonly EndpointSlice[],
  spec: object = {},
): ServiceObjects => ({
  ...{ service: service(spec), pods, slices },
});
const gone = { deletionTimestamp: '2026-01-01T00:00:00Z' };

const cases: readonly (readonly [string, ServiceObjects, boolean])[] = [
  [
    'are not stale where they agree',
    objects(
      [pod('1', true), pod('2', false)],
      [slice([endpoint('1', true), endpoint('2', false)])],
    ),
    false,
  ],
  [
    'are not stale where slices are split',
    objects(
      [pod('1', true), pod('2', true)],
      [slice([endpoint('2', true)]), slice([endpoint('1', true)])],
    ),
    false,
  ],
  ['are stale where a pod is missing', objects([pod('1', true)], [slice([])]), true],
  [
    'are stale where a pod became ready',
    objects([pod('1', true)], [slice([endpoint('1', false)])]),
    true,
  ],
  ['are stale where a pod is gone', objects([], [slice([endpoint('1', true)])]), true],
  [
    'are stale where a pod terminates',
    objects([pod('1', true, gone)], [slice([endpoint('1', true)])]),
    true,
  ],
  [
    'are not stale where they say that it does',
    objects([pod('1', true, gone)], [slice([endpoint('1', true, true)])]),
    false,
  ],
  ['are not stale where others write them', objects([pod('1', true)], [], { selector: {} }), false],
  [
    'are stale where only those of others are there',
    objects([pod('1', true)], [slice([endpoint('1', true)], 'me')]),
    true,
  ],
];

describe('hasStaleSlices()', () => {
  for (const [title, input, expected] of cases) {
    it(`says that slices ${title}`, () => assert.equal(hasStaleSlices(input), expected));
  }
});

describe('isComplete()', () => {
  const report = examplePropagation([examplePart('a')]);
  const pods = [pod('1', true)];
  const of = (endpointSlices: readonly EndpointSlice[], services = [service()]) =>
    makeSnapshot({ objects: { services, pods, endpointSlices } });
  it('is complete when slices and parts are current', () => {
    assert.equal(isComplete(report, of([slice([endpoint('1', true)])])), 'complete');
  });
  it('waits for slices', () => assert.equal(isComplete(report, of([])), 'stale-slices'));
  it('waits for parts, where the slices are newer than what they serve', () => {
    const older = { ...report, revision: '6' };
    assert.equal(isComplete(older, of([slice([endpoint('1', true)])])), 'newer-changes');
  });
  it('does not judge what may not be read', () => {
    assert.equal(isComplete(report, of([], [])), 'complete');
  });
});
