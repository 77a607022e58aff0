// In the main thread: carries out pulls for the threads of nodes, which reach no registry. Nodes that want the same image share one pull of
// the store.
import { ImageError } from '../images/image-error.ts';
import type { ImageStore } from '../images/image-store.ts';
import type { Keyring } from '../images/keyring.ts';
import type { PullState } from '../node/images/run-pulls.ts';
import type { PullMessage, ToNodeThread } from './node-messages.ts';

export type PullServer = {
  /** Takes a message of a node. */
  readonly receive: (
    node: string,
    message: PullMessage,
    send: (message: ToNodeThread) => void,
  ) => void;
  /** Of images that are being pulled, by name. */
  readonly states: () => readonly PullState[];
  /** Ends all pulls. */
  readonly stop: () => void;
};

export type PullServerOptions = {
  readonly store: ImageStore;
  /** Credentials of this machine, after those of pods. */
  readonly keyring: () => Keyring;
  /** Called when the states have changed. */
  readonly changed: () => void;
};

export function createPullServer({ store, keyring, changed }: PullServerOptions): PullServer {
  const running = new Map<string, AbortController>();
  const states = new Map<string, PullState>();
  const setState = (image: string, state: PullState | undefined): void => {
    if (state === undefined) states.delete(image);
    else states.set(image, state);
    changed();
  };
  const pull = async (
    { id, image, keyring: ofPod }: Extract<PullMessage, { kind: 'pull' }>,
    send: (message: ToNodeThread) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    setState(image, { image, doneBytes: 0, totalBytes: 0, layersDone: 0, layers: 0 });
    try {
      const pulled = await store.pull(image, {
        ...{ keyring: [...ofPod, ...keyring()], signal },
        onProgress(progress) {
          setState(image, { image, ...progress });
          send({ kind: 'pull-progress', id, progress });
        },
      });
      send({ kind: 'pulled', id, image: pulled });
    } catch (error) {
      send({ kind: 'pull-failed', id, error: failureOf(error) });
    } finally {
      setState(image, undefined);
    }
  };
  return {
    receive(node, message, send) {
      const key = `${node} ${message.id}`;
      if (message.kind === 'cancel-pull') {
        running.get(key)?.abort();
        return;
      }
      const end = new AbortController();
      running.set(key, end);
      void pull(message, send, end.signal).finally(() => running.delete(key));
    },
    states: () => [...states.values()],
    stop() {
      for (const end of running.values()) end.abort();
    },
  };
}

function failureOf(error: unknown) {
  if (error instanceof ImageError) {
    const { reason, code, message } = error;
    return { reason, code, message };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { reason: 'ErrImagePull', code: 'Unknown', message } as const;
}
