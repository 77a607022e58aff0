// A small cluster with a Service, a headless one, and their pods, settled.
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { exampleService } from '../../../src/kinds/service/example.ts';
import {
  exampleDeployment,
  exampleNode,
  exampleSnapshot,
  now,
} from '../../../src/snapshot/example.ts';
import { settle } from '../../../src/snapshot/settle.ts';
import type { Snapshot } from '../../../src/snapshot/snapshot.ts';

/** Two pods of the Deployment `web` on two nodes in two zones; the first is web-0. */
export function predictedWorld(): Snapshot {
  const services = ['web', 'names'].map((name) =>
    exampleService({
      metadata: { name, uid: `service-${name}` },
      spec: {
        selector: { app: 'web' },
        ...(name === 'names' ? { clusterIP: 'None', clusterIPs: ['None'] } : {}),
      },
    }),
  );
  const unsettled = exampleSnapshot({
    nodes: [exampleNode(1), exampleNode(2), exampleNode(3)],
    services,
    deployments: [exampleDeployment('web', { replicas: 2 })],
  });
  const made = settle(unsettled, { now }).objects;
  const pods = made.pods.map((pod, at): Pod => {
    const name = `web-${at}`;
    return { ...pod, metadata: { ...pod.metadata, name, uid: name } };
  });
  // Slices that name the pods as they are called now.
  return settle(
    { ...unsettled, objects: { ...made, pods, endpointSlices: [], endpoints: [] } },
    { now },
  );
}
