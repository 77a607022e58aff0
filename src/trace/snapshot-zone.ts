// The names of a cluster as its DNS has them, from a snapshot.
import { podFacts, serviceFacts, sliceFacts } from '../dns/cluster/facts.ts';
import { createZone, type Zone } from '../dns/cluster/zone.ts';
import { objectKey } from '../meta/object.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';

/** By snapshot: a doctor traces many connections over one. */
const zones = new WeakMap<SnapshotIndex, Zone>();

export function zoneOf(index: SnapshotIndex): Zone {
  const known = zones.get(index);
  if (known !== undefined) return known;
  const zone = createZone();
  const { namespaces, services, endpointSlices, pods } = index.snapshot.objects;
  const exists = (key: string): void => zone.apply({ kind: 'namespace', key, exists: true });
  for (const { metadata } of namespaces) exists(metadata.name ?? '');
  for (const service of services) {
    // An object has a namespace, whether or not that may be read.
    exists(service.metadata.namespace ?? '');
    zone.apply({
      kind: 'service',
      key: objectKey(service.metadata),
      facts: serviceFacts(service),
    });
  }
  for (const slice of endpointSlices) {
    const facts = sliceFacts(slice, { endpointPodNames: false });
    if (facts !== undefined) zone.apply({ kind: 'slice', key: objectKey(slice.metadata), facts });
  }
  for (const pod of pods) {
    const facts = podFacts(pod);
    exists(pod.metadata.namespace ?? '');
    if (facts !== undefined) zone.apply({ kind: 'pod', key: objectKey(pod.metadata), facts });
  }
  zones.set(index, zone);
  return zone;
}
