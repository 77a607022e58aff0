import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noOwners } from '../../kinds/service/address-owners.ts';
import { exampleService } from '../../kinds/service/example.ts';
import { sourceRangesAnnotation } from '../../meta/well-known-annotations.ts';
import { exampleEndpoint, exampleSlice } from './example-slice.ts';
import { exampleNode } from './example-state.ts';
import { randomObjects } from './random-objects.ts';
import { createRandom } from './random-state.ts';
import { createStateTracker } from './track-state.ts';
import { createTrimmer } from './trim-objects.ts';

const options = {
  allowsExternalIPs: true,
  allowsForeignAddresses: false,
  endpointOwner: () => undefined,
};
const view = { node: exampleNode(), zone: 'zone-a', owners: noOwners };

describe('createTrimmer()', () => {
  it('keeps what a sync needs: the state is the same', () => {
    const random = createRandom(7);
    const trimmer = createTrimmer();
    const [whole, trimmed] = [createStateTracker(view, options), createStateTracker(view, options)];
    for (let n = 0; n < 200; n += 1) {
      const { service, slices } = randomObjects(random, `s${n}`);
      if (service === undefined) continue;
      whole.update(`default/s${n}`, { service, slices });
      trimmed.update(`default/s${n}`, { service: trimmer.service(service), slices });
    }
    assert.deepEqual(trimmed.take().state, whole.take().state);
  });
  it('drops unused fields', () => {
    const metadata = {
      ...{ name: 'web', namespace: 'default', uid: 'u', resourceVersion: '7' },
      labels: { app: 'web', 'kubernetes.io/service-name': 'web' },
      annotations: { note: 'x', 'endpoints.kubernetes.io/last-change-trigger-time': 't' },
      managedFields: [{ manager: 'm' }],
    };
    const trimmer = createTrimmer();
    const service = trimmer.service(
      exampleService({ metadata, spec: { selector: { app: 'web' } } }),
    );
    assert.deepEqual(service.metadata, {
      ...{ name: 'web', namespace: 'default', uid: 'u', resourceVersion: '7' },
    });
    assert.equal(service.spec.selector, undefined);
    const slice = trimmer.slice({ ...exampleSlice([exampleEndpoint('1.1')]), metadata });
    assert.deepEqual(slice.metadata, {
      ...{ name: 'web', namespace: 'default', uid: 'u', resourceVersion: '7' },
    });
    assert.deepEqual([slice.serviceKey, slice.triggerTime], ['default/web', 't']);
  });
  it('keeps source ranges, also those of the annotation (API-27)', () => {
    const annotations = { [sourceRangesAnnotation]: '192.0.2.0/24' };
    const { metadata, spec } = createTrimmer().service(
      exampleService({ metadata: { annotations } }),
    );
    assert.deepEqual(spec.loadBalancerSourceRanges, ['192.0.2.0/24']);
    assert.equal(metadata.annotations, undefined);
  });
  it('shares repeated values', () => {
    const trimmer = createTrimmer();
    const [a, b] = [1, 2].map(() => trimmer.slice(exampleSlice([exampleEndpoint('1.1')])));
    assert.equal(a?.facts[0], b?.facts[0]);
  });
});
