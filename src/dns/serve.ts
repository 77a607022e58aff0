// All listeners: each address over UDP and TCP on the same port.
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
};

/** A free port for UDP may be taken for TCP: then another one is tried. */
const maxTries = 20;

export async function startListening(parts: ListeningOptions): Promise<Listening> {
  const { listen, batches, descriptors } = parts.options;
  const calls = batches ? await loadBatchCalls() : undefined;
  const opened: Listener[] = [];
  const addresses: ServerAddress[] = [];
  try {
    for (const [index, address] of listen.entries()) {
      const both = await listenOn({ address, ...given(descriptors?.[index]) }, parts, calls);
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

type Place = { readonly address: ServerAddress; readonly descriptors?: SocketDescriptors };

const given = (descriptors: SocketDescriptors | undefined): Pick<Place, 'descriptors'> =>
  descriptors === undefined ? {} : { descriptors };

async function listenOn(
  place: Place,
  parts: ListeningOptions,
  calls: BatchCalls | undefined,
  tries = 1,
): Promise<readonly Listener[]> {
  const { answerer, counters, now } = parts;
  const { address, descriptors } = place;
  const options: UdpOptions = { address, answerer, counters, now };
  const udpOptions = { ...options, ...(descriptors && { descriptor: descriptors.udp }) };
  const tcp = descriptors && { descriptor: descriptors.tcp };
  const quick = calls === undefined ? undefined : await serveUdpBatches(calls, udpOptions);
  try {
    const udp = quick ?? (await serveUdp(udpOptions));
    try {
      return [udp, await serveTcp({ ...options, address: udp.address, ...tcp })];
    } catch (error) {
      await udp.close();
      if (address.port !== 0 || tries >= maxTries) throw error;
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot listen on ${serverText(address)}: ${reason}`, { cause: error });
  }
  return listenOn(place, parts, calls, tries + 1);
}
