// What is kept of objects while their history is read: little enough for thousands of versions, and nothing that a pod is given to know.
import type { Endpoint, EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Node } from '../kinds/node/types.ts';
import { isRestartableInitContainer } from '../kinds/pod/ports.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { KubeObject } from '../meta/object.ts';

export type Trim = (object: KubeObject) => KubeObject;

/** Equal endpoints become one object: most of a slice is the same in its next version. */
export function createTrimmer(): Trim {
  const endpoints = new Map<string, Endpoint>();
  const shared = (endpoint: Endpoint): Endpoint => {
    const text = JSON.stringify(endpoint);
    const known = endpoints.get(text);
    if (known !== undefined) return known;
    endpoints.set(text, endpoint);
    return endpoint;
  };
  return (object) => {
    switch (object.kind) {
      case 'EndpointSlice': {
        const slice = object as EndpointSlice;
        return { ...slice, endpoints: (slice.endpoints ?? []).map(shared) } as EndpointSlice;
      }
      case 'Pod':
        return trimPod(object as Pod);
      case 'Node':
        return trimNode(object as Node);
      default:
        return object;
    }
  };
}

/** Without what containers run and are given: images, commands, environments, volumes. */
function trimPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { annotations: _annotations, managedFields: _managers, ...own } = metadata;
  const { nodeName, containers, initContainers } = spec;
  const sidecars = (initContainers ?? []).map((container) => ({
    name: container.name,
    ...(isRestartableInitContainer(container) ? { restartPolicy: 'Always' } : {}),
  }));
  const trimmed = {
    ...(nodeName === undefined ? {} : { nodeName }),
    containers: (containers ?? []).map(({ name }) => ({ name })),
    initContainers: sidecars,
  };
  return { apiVersion, kind, metadata: own, status, spec: trimmed as unknown as Pod['spec'] };
}

function trimNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const { annotations: _annotations, managedFields: _managers, ...own } = metadata;
  const { conditions } = status;
  return {
    ...{ apiVersion, kind, metadata: own, spec },
    status: { conditions } as Node['status'],
  };
}
