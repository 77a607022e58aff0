// The traffic of Services on each node, as an API server answers it.
import { dns1123Subdomain } from '../../meta/names.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { fieldsOf, textIn } from './read-fields.ts';
import { type NodeTraffic, trafficQuestion } from './traffic.ts';

const trafficStatus = s.struct(
  'TrafficStatus',
  {
    reason: s.string('Why nothing was measured.'),
    measured: s.pointer(
      s.any('By service port and endpoint, as the proxy of the node measured it.'),
    ),
  },
  { numbers: [1, 2] },
);

export const trafficSchema = s.struct(
  'Traffic',
  { ...objectFields, status: s.described(trafficStatus, 'The answer of this moment.') },
  {
    description: 'Connections and bytes of Services on the node of this name.',
    numbers: [0, 0, 1, 2],
  },
);

export type TrafficItem = KubeObject & {
  readonly status: { readonly reason?: string; readonly measured?: NodeTraffic };
};

/** What is known of one node. */
export type MeasuredNode =
  | { readonly node: string; readonly measured: NodeTraffic }
  | { readonly node: string; readonly reason: string };

/** Larger clusters than Kubernetes supports. */
const maxNodes = 20_000;
const maxNameLength = 253;
const maxReasonLength = 1000;

/** Undefined: not the answer of a server of Fairlead. A node whose part of it makes no sense is one without an answer. */
export function readTrafficList(value: unknown): readonly MeasuredNode[] | undefined {
  const items = fieldsOf(value)?.items;
  if (!Array.isArray(items) || items.length > maxNodes) return undefined;
  const nodes = items.flatMap((item) => readItem(item) ?? []);
  return nodes.length === items.length ? nodes : undefined;
}

function readItem(value: unknown): MeasuredNode | undefined {
  const fields = fieldsOf(value);
  const metadata = fieldsOf(fields?.metadata);
  const status = fieldsOf(fields?.status);
  const node = metadata && textIn(metadata, 'name', maxNameLength);
  if (status === undefined || node === undefined || dns1123Subdomain(node).length > 0)
    return undefined;
  const measured = trafficQuestion.readAnswer(status.measured);
  if (measured !== undefined) return { node, measured };
  const reason = textIn(status, 'reason', maxReasonLength) ?? 'the answer is not understood';
  return { node, reason };
}
