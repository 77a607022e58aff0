// Reads a Service, its slices and its pods as they are now, as far as the user may.
import type { ApiCaller } from '../client/api-call.ts';
import { formatLabelMap } from '../meta/labels.ts';
import { serviceNameLabel } from '../meta/well-known-labels.ts';
import { openObjectReader } from '../snapshot/read-objects.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ServiceName } from './read-propagation.ts';

export async function readServiceObjects(
  caller: ApiCaller,
  { namespace, name }: ServiceName,
  signal: AbortSignal,
): Promise<Snapshot> {
  const reader = openObjectReader(caller, { signal });
  await reader.read([{ kind: 'services', namespace, name }]);
  const selector = reader.snapshot().objects.services[0]?.spec.selector ?? {};
  if (Object.keys(selector).length > 0) {
    const labelSelector = formatLabelMap(selector);
    // Pods first: slices that are newer than pods say no less.
    await reader.read([{ kind: 'pods', namespace, labelSelector }]);
  }
  const ofService = `${serviceNameLabel}=${name}`;
  await reader.read([{ kind: 'endpointSlices', namespace, labelSelector: ofService }]);
  return reader.snapshot();
}
