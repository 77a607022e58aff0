// All listeners: each address over UDP and TCP on the same port.
import type { Answerer } from './answerer.ts';
import type { Counters } from './counters.ts';
import type { AnswerWorkerOptions } from './messages.ts';
import { serveTcp } from './serve-tcp.ts';
import { type Listener, serveUdp, type UdpOptions } from './serve-udp.ts';
import { type BatchCalls, loadBatchCalls, serveUdpBatches } from './serve-udp-batches.ts';
import { type ServerAddress, serverText } from './upstream-servers.ts';

export type Listening = {
  readonly addresses: readonly ServerAddress[];
  readonly inBatches: boolean;
  readonly pause: () => void;
  readonly close: () => Promise<void>;
};

export type ListeningOptions = {
  readonly options: Pick<AnswerWorkerOptions, 'listen' | 'batches'>;
  readonly answerer: Answerer;
  readonly counters: Counters;
  readonly now: () => number;
};

/** A free port for UDP may be taken for TCP: then another one is tried. */
const mostTries = 20;

export async function startListening(parts: ListeningOptions): Promise<Listening> {
  const { listen, batches } = parts.options;
  const calls = batches ? await loadBatchCalls() : undefined;
  const opened: Listener[] = [];
  const addresses: ServerAddress[] = [];
  try {
    for (const address of listen) {
      const both = await listenOn(address, parts, calls);
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

async function listenOn(
  address: ServerAddress,
  { answerer, counters, now }: ListeningOptions,
  calls: BatchCalls | undefined,
  tries = 1,
): Promise<readonly Listener[]> {
  const options: UdpOptions = { address, answerer, counters, now };
  const quick = calls === undefined ? undefined : await serveUdpBatches(calls, options);
  try {
    const udp = quick ?? (await serveUdp(options));
    try {
      return [udp, await serveTcp({ ...options, address: udp.address })];
    } catch (error) {
      await udp.close();
      if (address.port !== 0 || tries >= mostTries) throw error;
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot listen on ${serverText(address)}: ${reason}`, { cause: error });
  }
  return listenOn(
    address,
    { options: { listen: [], batches: false }, answerer, counters, now },
    calls,
    tries + 1,
  );
}
