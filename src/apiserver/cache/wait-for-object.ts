// Waits until an object exists, up to a timeout.
import type { WaitedObject } from '../admission/admission.ts';
import type { Resources } from './resources.ts';

export function waitForObject(
  resources: Pick<Resources, 'of'>,
  { resource, namespace, name, timeoutMs }: WaitedObject,
): Promise<void> {
  const { cache, codec } = resources.of(resource);
  const key = codec.key(namespace, name);
  if (cache.get(key) !== undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(end, timeoutMs);
    const stop = cache.subscribe((change) => {
      if (change.current.key === key && change.type !== 'DELETED') end();
    }, end);
  });
}
