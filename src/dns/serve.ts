// Opens all listeners: UDP and TCP on the same port of each address.
import type { Clock } from '../host/clock.ts';
import type { Answerer } from './answerer.ts';
import type { Counters } from './counters.ts';
import { type ServerAddress, serverText } from './forward/upstream-servers.ts';
import type { AnswerWorkerOptions, SocketDescriptors } from './messages.ts';
import { serveTcp } from './serve-tcp.ts';
import { type Listener, serveUdp, type UdpOptions } from './serve-udp.ts';
import { type BatchCalls, loadBatchCalls, serveUdpBatches } from './serve-udp-batches.ts';

export type Listening = {
  readonly addresses: readonly ServerAddress[];
  readonly inBatches: boolean;
  readonly pause: () => void;
  readonly close: () => Promise<void>;
};

export type ListeningOptions = {
  readonly options: Pick<AnswerWorkerOptions, 'listen' | 'batches' | 'descriptors'>;
  readonly answerer: Answerer;
  readonly counters: Counters;
  readonly now: () => number;
  readonly clock: Clock;
};

/** A port that is free for UDP may be in use for TCP: then another one is tried. */
const maxTries = 20;

export async function startListening(parts: ListeningOptions): Promise<Listening> {
  const { listen, batches, descriptors } = parts.options;
  const calls = batches ? await loadBatchCalls() : undefined;
  const opened: Listener[] = [];
  const addresses: ServerAddress[] = [];
  try {
    for (const [index, address] of listen.entries()) {
      const both = await listenOn(
        { address, ...optionalDescriptors(descriptors?.[index]) },
        parts,
        calls,
      );
      opened.push(...both);
      addresses.push({ ...address, port: both[0]?.address.port ?? address.port });
    }
  } catch (error) {
    await Promise.all(opened.map(({ close }) => close()));
    throw error;
  }
  return {
    addresses,
    inBatches: calls !== undefined,
    pause: () => {
      for (const { pause } of opened) pause();
    },
    close: async () => {
      await Promise.all(opened.map(({ close }) => close()));
    },
  };
}

type ListenTarget = { readonly address: ServerAddress; readonly descriptors?: SocketDescriptors };

const optionalDescriptors = (
  descriptors: SocketDescriptors | undefined,
): Pick<ListenTarget, 'descriptors'> => (descriptors === undefined ? {} : { descriptors });

async function listenOn(
  target: ListenTarget,
  parts: ListeningOptions,
  calls: BatchCalls | undefined,
  tries = 1,
): Promise<readonly Listener[]> {
  const { answerer, counters, now, clock } = parts;
  const { address, descriptors } = target;
  const options: UdpOptions = { address, answerer, counters, now };
  const udpOptions = { ...options, ...(descriptors && { descriptor: descriptors.udp }) };
  const tcp = descriptors && { descriptor: descriptors.tcp };
  const batched = calls === undefined ? undefined : await serveUdpBatches(calls, udpOptions);
  try {
    const udp = batched ?? (await serveUdp(udpOptions));
    try {
      return [udp, await serveTcp({ ...options, clock, address: udp.address, ...tcp })];
    } catch (error) {
      await udp.close();
      if (address.port !== 0 || tries >= maxTries) throw error;
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot listen on ${serverText(address)}: ${reason}`, { cause: error });
  }
  return listenOn(target, parts, calls, tries + 1);
}
