// Seats for requests, shared fairly between users: whoever finds one free goes on at once, others wait in a queue of
// their own user, and the queues take turns. Nobody holds more than half of the seats, so that work that hangs takes
// the seats of one user and not the server.
import { createLinkedQueue, type LinkedQueue, type QueueEntry } from '../../host/linked-queue.ts';

export type FairQueueOptions = {
  /** Requests at work at a time; 0 is no limit. */
  readonly seats: number;
  /** Requests of one user that may wait. */
  readonly queueLength: number;
  readonly waitMs: number;
  readonly onQueued?: (count: number) => void;
};

export type Rejection = 'queue-full' | 'time-out' | 'cancelled';

/** Why a request did not get a seat. */
export class NoSeat extends Error {
  readonly reason: Rejection;
  constructor(reason: Rejection) {
    super(`no seat: ${reason}`);
    this.name = 'NoSeat';
    this.reason = reason;
  }
}

/** What a user has taken; who entered gives it back. */
export type Flow = { readonly user: string; taken: number; readonly waiting: LinkedQueue<Waiter> };

type Waiter = {
  readonly flow: Flow;
  readonly proceed: () => void;
  readonly refuse: (why: NoSeat) => void;
  readonly deadline: number;
  /** Undefined once it waits no more. */
  places: { readonly ofAll: QueueEntry<Waiter>; readonly ofFlow: QueueEntry<Waiter> } | undefined;
};

export type FairQueue = {
  /** At once when there is a seat, else when it is one's turn; throws or rejects with NoSeat. */
  readonly enter: (user: string, departed: () => AbortSignal) => Flow | Promise<Flow>;
  readonly leave: (flow: Flow) => void;
  readonly taken: () => number;
  readonly waiting: () => number;
};

/** Users without a request are remembered up to here, so that each of their requests need not make them anew. */
const rememberedFlows = 1000;

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { seats, queueLength } = options;
  const limit = seats === 0 ? Number.POSITIVE_INFINITY : seats;
  const share = seats === 0 ? limit : Math.max(1, Math.ceil(seats / 2));
  const flows = new Map<string, Flow>();
  const queues = createQueues(options);
  let taken = 0;

  function flowOf(user: string): Flow {
    let flow = flows.get(user);
    if (flow !== undefined) return flow;
    if (flows.size >= rememberedFlows) forgetIdle(flows);
    flow = { user, taken: 0, waiting: createLinkedQueue() };
    flows.set(user, flow);
    return flow;
  }

  function take(flow: Flow): Flow {
    taken += 1;
    flow.taken += 1;
    return flow;
  }

  return {
    enter(user, departed) {
      const flow = flowOf(user);
      if (taken < limit && flow.taken < share && flow.waiting.size() === 0) return take(flow);
      if (flow.waiting.size() >= queueLength) throw new NoSeat('queue-full');
      return queues.stand(flow, departed());
    },
    leave(flow) {
      taken -= 1;
      flow.taken -= 1;
      while (taken < limit && queues.size() > 0) {
        const next = queues.next((candidate) => candidate.taken < share);
        if (next === undefined) return;
        take(next.flow);
        next.proceed();
      }
    },
    taken: () => taken,
    waiting: queues.size,
  };
}

function forgetIdle(flows: Map<string, Flow>): void {
  for (const [user, flow] of flows) {
    if (flow.taken === 0 && flow.waiting.size() === 0) flows.delete(user);
  }
}

type Queues = {
  readonly stand: (flow: Flow, departed: AbortSignal) => Promise<Flow>;
  /** Takes out whose turn it is, of the users that may. */
  readonly next: (may: (flow: Flow) => boolean) => Waiter | undefined;
  readonly size: () => number;
};

function createQueues({ waitMs, onQueued = () => {} }: FairQueueOptions): Queues {
  /** Flows with somebody waiting, the one whose turn it is first. */
  const turns = new Set<Flow>();
  /** All who wait, who came first standing first. */
  const waiters = createLinkedQueue<Waiter>();
  let timer: NodeJS.Timeout | undefined;

  function remove(waiter: Waiter): void {
    const { places } = waiter;
    if (places === undefined) return;
    waiter.places = undefined;
    waiters.remove(places.ofAll);
    waiter.flow.waiting.remove(places.ofFlow);
    if (waiter.flow.waiting.size() === 0) turns.delete(waiter.flow);
    onQueued(-1);
  }

  /** One timer for all: who came first is the first to have waited too long. */
  function arm(): void {
    const first = waiters.first();
    if (timer !== undefined || first === undefined) return;
    const left = Math.max(0, first.value.deadline - performance.now());
    timer = setTimeout(expire, Math.ceil(left)).unref();
  }

  function expire(): void {
    timer = undefined;
    const now = performance.now();
    for (let next = waiters.first(); next !== undefined; next = waiters.first()) {
      const waiter = next.value;
      if (waiter.deadline > now) break;
      remove(waiter);
      waiter.refuse(new NoSeat('time-out'));
    }
    arm();
  }

  function add(waiter: Waiter): void {
    waiter.places = { ofAll: waiters.add(waiter), ofFlow: waiter.flow.waiting.add(waiter) };
    turns.add(waiter.flow);
    onQueued(1);
    arm();
  }

  return {
    stand: (flow, departed) =>
      new Promise((resolve, reject) => {
        const cancel = (): void => {
          remove(waiter);
          reject(new NoSeat('cancelled'));
        };
        const waiter: Waiter = {
          flow,
          deadline: performance.now() + waitMs,
          places: undefined,
          proceed() {
            departed.removeEventListener('abort', cancel);
            resolve(flow);
          },
          refuse(why) {
            departed.removeEventListener('abort', cancel);
            reject(why);
          },
        };
        departed.addEventListener('abort', cancel, { once: true });
        add(waiter);
        if (departed.aborted) cancel();
      }),
    next(may) {
      for (const flow of turns) {
        const waiter = flow.waiting.first()?.value;
        if (waiter === undefined || !may(flow)) continue;
        remove(waiter);
        // Its next turn comes after everybody else's.
        if (turns.delete(flow)) turns.add(flow);
        return waiter;
      }
      return undefined;
    },
    size: waiters.size,
  };
}
