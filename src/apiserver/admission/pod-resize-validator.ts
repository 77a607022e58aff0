// A pod can be resized in place only up to what its node can allocate.

import type { Node } from '../../kinds/node/types.ts';
import { quantitiesOf, requestsOf } from '../../kinds/pod/requests.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { ApiError } from '../../meta/api-error.ts';
import { osLabel } from '../../meta/well-known-labels.ts';
import { deepEqual } from '../../schema/equality.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource, refused } from './admission.ts';

export const podResizeValidator: AdmissionPlugin = {
  name: 'PodResizeValidator',
  onByDefault: true,
  validate(request, { reader }) {
    const { operation, subresource, before, after } = request;
    if (operation !== 'update' || subresource !== 'resize' || !isResource(request, '', 'pods'))
      return;
    const pod = after as Pod;
    const { nodeName = '' } = (before as Pod).spec;
    if (nodeName === '' || deepEqual(quantitiesIn(before as Pod), quantitiesIn(pod))) return;
    const node = reader.get('nodes', '', nodeName) as Node | undefined;
    if (node === undefined) throw refused(request, `node ${goQuote(nodeName)} not found`);
    checkSystem(request, node);
    checkRoom(request, pod, node);
    return;
  },
};

const quantitiesIn = ({ spec }: Pod) => [
  spec.resources,
  ...[spec.containers, spec.initContainers].map((list) => list?.map((one) => one.resources)),
];

function checkSystem(request: AdmissionRequest, { metadata }: Node): void {
  const system = metadata.labels?.[osLabel] ?? 'linux';
  if (system === 'linux') return;
  const node = goQuote(metadata.name ?? '');
  throw withCause(
    refused(
      request,
      `pod resize is only supported on linux nodes, node ${node} is ${goQuote(system)}`,
    ),
    'UnsupportedPlatform',
  );
}

/** A resource that the node does not report has no known limit; the scheduler handles it the same way. */
function checkRoom(request: AdmissionRequest, pod: Pod, { status }: Node): void {
  const has = quantitiesOf(status.allocatable);
  const wanted = requestsOf(pod);
  const problems = (
    [
      ['cpu', 1],
      ['memory', 1000],
    ] as const
  ).flatMap(([name, unit]) => {
    const allocatable = has.get(name) ?? Number.POSITIVE_INFINITY;
    const requested = wanted.get(name) ?? 0;
    return requested > allocatable
      ? [`${name}, requested: ${requested / unit}, allocatable: ${allocatable / unit}`]
      : [];
  });
  if (problems.length === 0) return;
  const why = `node didn't have enough allocatable resources: ${problems.join('; ')}`;
  throw withCause(refused(request, why), 'NodeCapacity');
}

function withCause({ status }: ApiError, reason: string): ApiError {
  return new ApiError({ ...status, details: { ...status.details, causes: [{ reason }] } });
}
