import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { defaultPodTemplate } from '../pod-template/defaults.ts';
import { type PodTemplateSpec, podTemplateSpec } from '../pod-template/types.ts';
import {
  byRevision,
  hashData,
  hasTemplate,
  highestRevision,
  revisionData,
  templateIn,
} from './history.ts';
import type { ControllerRevision } from './types.ts';

const template = (more: object = {}): PodTemplateSpec =>
  defaultPodTemplate(
    decode(podTemplateSpec, {
      metadata: { labels: { app: 'a' } },
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'c', image: 'i' }],
        ...more,
      },
    }).object as PodTemplateSpec,
  );

const revision = (number: number, more: object = {}): ControllerRevision => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name: `r${number}` },
  revision: number,
  ...more,
});

test('hashData() equals the hash of kube-controller-manager 1.36', () => {
  assert.equal(hashData(revisionData({ template: template() }), 0), 'fff86bf74');
  assert.equal(
    hashData(revisionData({ template: template({ terminationGracePeriodSeconds: 7 }) }), 0),
    '745cd9454',
  );
});

test('hashData() changes with the number of collisions', () => {
  const data = revisionData({ template: template() });
  assert.notEqual(hashData(data, 1), hashData(data, 0));
});

test('templateIn() returns the template of a revision, and undefined for other data', () => {
  const data = revisionData({ template: template() });
  assert.deepEqual(templateIn(revision(1, { data })), template());
  for (const other of [undefined, null, 1, [], {}, { spec: 1 }, { spec: { template: [] } }])
    assert.equal(templateIn(revision(1, { data: other })), undefined);
});

test('hasTemplate() compares templates and overlooks a timestamp of null', () => {
  const data = revisionData({ template: template() });
  assert.equal(hasTemplate(revision(1, { data }), template()), true);
  assert.equal(hasTemplate(revision(1, { data }), template({ hostNetwork: true })), false);
  const metadata = { creationTimestamp: null, labels: { app: 'a' } };
  const old = { spec: { template: { ...template(), metadata } } };
  assert.equal(hasTemplate(revision(1, { data: old }), template()), true);
});

test('byRevision() sorts by number, age and name', () => {
  const aged = (number: number, name: string, creationTimestamp: string) =>
    revision(number, { metadata: { name, creationTimestamp } });
  const all = [
    aged(2, 'b', '2026-01-01T00:00:01Z'),
    aged(2, 'a', '2026-01-01T00:00:01Z'),
    aged(2, 'c', '2026-01-01T00:00:00Z'),
    aged(1, 'd', '2026-01-01T00:00:09Z'),
  ];
  assert.deepEqual(
    all.toSorted(byRevision).map(({ metadata }) => metadata.name),
    ['d', 'c', 'a', 'b'],
  );
  assert.equal(highestRevision(all), 2);
  assert.equal(highestRevision([]), 0);
});
