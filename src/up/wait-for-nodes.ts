// Resolves when every node is ready.
import type { ApiCaller } from '../client/api-call.ts';
import { startInformer } from '../client/informer.ts';
import { systemClock } from '../host/clock.ts';
import { nodeDefinition } from '../kinds/node/definition.ts';
import { isNodeReady } from '../kinds/node/readiness.ts';
import type { Log } from '../observe/log.ts';

export async function waitForNodes(
  { caller, log }: { readonly caller: ApiCaller; readonly log: Log },
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  const nodes = startInformer({ caller, type: nodeDefinition, clock: systemClock, log }, until);
  await new Promise<void>((resolve) => {
    const check = (): void => {
      const isReady = (name: string): boolean => {
        const node = nodes.store.get(name);
        return node !== undefined && isNodeReady(node);
      };
      if (names.every(isReady)) resolve();
    };
    until.addEventListener('abort', () => resolve(), { once: true });
    nodes.onChange({ add: check, update: check });
  });
  done.abort();
  await nodes.ended;
}
