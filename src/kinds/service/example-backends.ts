// Builders for tests: a ready pod on node n1 that the Service `web` selects.
import { examplePod } from '../pod/example.ts';
import type { Pod } from '../pod/types.ts';
import { exampleService, type ServiceParts } from './example.ts';
import type { Service } from './types.ts';

export type BackendParts = {
  readonly ips?: readonly string[];
  readonly ready?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
};

export function exampleBackend(name: string, parts: BackendParts = {}): Pod {
  const { ips = ['10.1.0.1'], ready = true, labels = { app: 'web' } } = parts;
  return examplePod({
    metadata: { name, uid: `uid-${name}`, labels, ...parts.metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'app', image: 'app:1' }], ...parts.spec },
    status: {
      phase: 'Running',
      podIP: ips[0],
      podIPs: ips.map((ip) => ({ ip })),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      ...parts.status,
    },
  });
}

export function selectingService({ metadata, spec }: ServiceParts = {}): Service {
  return exampleService({
    metadata: { name: 'web', namespace: 'default', uid: 'uid-service', ...metadata },
    spec: { selector: { app: 'web' }, ...spec },
  });
}
