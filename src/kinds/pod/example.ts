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
