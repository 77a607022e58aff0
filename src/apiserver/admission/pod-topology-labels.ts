// Copies the zone and region labels of the node to the pod, where the downward API can read them.
import type { Node } from '../../kinds/node/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import { regionLabel, zoneLabel } from '../../meta/well-known-labels.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { type AdmissionPlugin, isResource } from './admission.ts';

const topologyLabels: readonly string[] = [zoneLabel, regionLabel];

type Binding = KubeObject & {
  readonly target: { readonly kind?: string; readonly name?: string };
};

export const podTopologyLabels: AdmissionPlugin = {
  name: 'PodTopologyLabels',
  onByDefault: true,
  mutate(request, { reader }) {
    const { operation, subresource, after } = request;
    if (operation !== 'create' || after === undefined || !isResource(request, '', 'pods'))
      return undefined;
    // A pod created with a node name; a scheduled pod gets the labels of its binding.
    if (subresource === '') return labelled(after, (after as Pod).spec.nodeName, reader);
    const { target } = after as Binding;
    return subresource === 'binding' && target.kind === 'Node'
      ? labelled(after, target.name, reader)
      : undefined;
  },
};

function labelled(
  object: KubeObject,
  nodeName: string | undefined,
  reader: ObjectReader,
): KubeObject | undefined {
  if (!nodeName) return undefined;
  const { labels = {} } = (reader.get('nodes', '', nodeName) as Node | undefined)?.metadata ?? {};
  const copied = Object.fromEntries(
    topologyLabels.flatMap((key) => {
      const value = labels[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
  if (Object.keys(copied).length === 0) return undefined;
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...copied } } };
}
