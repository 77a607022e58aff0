// In the thread of a node: a store of images whose pulls the main thread carries out.
import { ImageError } from '../images/image-error.ts';
import type { ImageStore, LocalImage, PullOptions } from '../images/image-store.ts';
import type { PullMessage, ToNodeThread } from './node-messages.ts';

export type ForwardedPulls = {
  readonly store: ImageStore;
  /** Takes the messages of the main thread. */
  readonly receive: (message: ToNodeThread) => void;
};

type Waiting = {
  readonly options: PullOptions;
  readonly resolve: (image: LocalImage) => void;
  readonly reject: (error: unknown) => void;
};

export function forwardPulls(
  store: ImageStore,
  post: (message: PullMessage) => void,
): ForwardedPulls {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  const pull = async (image: string, options: PullOptions): Promise<LocalImage> => {
    const { keyring = [], signal } = options;
    signal.throwIfAborted();
    last += 1;
    const id = last;
    const cancel = (): void => {
      post({ kind: 'cancel-pull', id });
      waiting.get(id)?.reject(signal.reason);
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await new Promise<LocalImage>((resolve, reject) => {
        waiting.set(id, { options, resolve, reject });
        post({ kind: 'pull', id, image, keyring });
      });
    } finally {
      waiting.delete(id);
      signal.removeEventListener('abort', cancel);
    }
  };
  return {
    store: { ...store, pull },
    receive(message) {
      if (message.kind === 'stop') return;
      const found = waiting.get(message.id);
      if (message.kind === 'pull-progress') found?.options.onProgress?.(message.progress);
      else if (message.kind === 'pulled') found?.resolve(message.image);
      else {
        const { reason, code, message: text } = message.error;
        found?.reject(new ImageError(reason, code, text));
      }
    },
  };
}
