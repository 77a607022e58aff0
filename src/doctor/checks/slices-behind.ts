import { desiredEndpoints, serviceFamilies } from '../../controllers/endpoint-slice/desired.ts';
import { isReady } from '../../kinds/endpoint-slice/conditions.ts';
import type { Endpoint } from '../../kinds/endpoint-slice/types.ts';
import { type EndpointSlice, sliceManager } from '../../kinds/endpoint-slice/types.ts';
import { sliceManagedByLabel } from '../../meta/well-known-labels.ts';
import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

export const slicesBehind: ServiceCheck = {
  code: 'FL0902',
  severity: 'error',
  title: 'The endpoint slices do not say what the pods say',
  scope: 'service',
  needs: ['services', 'pods', 'endpointSlices', 'nodes'],
  isLiveOnly: true,
  find(subject) {
    if (!subject.hasSelector || subject.service.metadata.deletionTimestamp !== undefined) return [];
    const wanted = wantedAddresses(subject);
    const own = subject.slices().filter(isManaged);
    const present = new Set(own.flatMap((slice) => readyAddresses(slice.endpoints ?? [])));
    const missing = [...wanted].filter((address) => !present.has(address));
    const stale = [...present].filter((address) => !wanted.has(address));
    if (missing.length === 0 && stale.length === 0) return [];
    const parts = [
      ...(missing.length === 0 ? [] : [`ready pods at ${listText(missing)} are not in them`]),
      ...(stale.length === 0 ? [] : [`no ready pod is at ${listText(stale)}, which they have`]),
    ];
    const { service, namespace, name } = subject;
    return [
      {
        // A controller that runs needs a moment; one that has done nothing at all does not run.
        severity: own.length === 0 || missing.length === wanted.size ? 'error' : 'warning',
        message: `${own.length === 0 ? 'There are no slices of the controller' : 'The slices are behind'}: ${parts.join(', and ')}`,
        evidence: [
          { object: objectName(service), field: 'ready pods', value: String(wanted.size) },
          {
            object: own[0] === undefined ? objectName(service) : objectName(own[0]),
            field: 'ready endpoints',
            value: String(present.size),
          },
        ],
        fix: {
          sentence:
            'Run it again in some seconds; if it stays, the endpoint slice controller does not run or lacks rights',
          command: `kubectl get endpointslices -n ${namespace} -l kubernetes.io/service-name=${name}`,
        },
      },
    ];
  },
};

const isManaged = ({ metadata }: EndpointSlice): boolean =>
  metadata.labels?.[sliceManagedByLabel] === sliceManager;

/** What the controller would write: by its own code. */
function wantedAddresses({ service, pods, index: { node } }: ServiceSubject): ReadonlySet<string> {
  const all = pods();
  const addresses = serviceFamilies(service).flatMap((family) => {
    const { groups } = desiredEndpoints({ service, pods: all, node, family });
    return [...groups.values()].flatMap(({ endpoints }) => readyAddresses([...endpoints.values()]));
  });
  return new Set(addresses);
}

function readyAddresses(endpoints: readonly Endpoint[]): readonly string[] {
  return endpoints
    .filter(({ conditions }) => isReady(conditions ?? {}))
    .map(({ addresses }) => addresses?.[0] ?? '');
}
