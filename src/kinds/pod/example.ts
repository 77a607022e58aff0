// Pods for tests, decoded and with defaults.
import { decode } from '../../schema/decode.ts';
import { defaultPod } from './defaults.ts';
import { type Pod, podSchema } from './types.ts';

type Example = {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
};

export function examplePod({ metadata, spec, status }: Example = {}): Pod {
  const { object } = decode(podSchema, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', ...metadata },
    spec: { containers: [{ name: 'app', image: 'app:1' }], ...spec },
    status: status ?? {},
  });
  return defaultPod(object as Pod);
}

export const now = Date.parse('2026-01-02T00:00:00Z');

/** A pod on a node that has been ready for this many seconds; absent: not ready. */
export function podOf(name: string, readySeconds?: number, more: object = {}): Pod {
  const time = new Date(now - (readySeconds ?? 0) * 1000).toISOString();
  const pod = examplePod({
    metadata: {
      name,
      uid: name,
      labels: { app: 'web' },
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { nodeName: 'n' },
    status: {
      phase: 'Running',
      conditions: [
        {
          type: 'Ready',
          status: readySeconds === undefined ? 'False' : 'True',
          lastProbeTime: null,
          lastTransitionTime: `${time.slice(0, 19)}Z`,
        },
      ],
    },
  });
  return { ...pod, ...more };
}
