// Seats for requests, shared fairly between users: a request that finds one free runs at once, others wait in a queue of
// their user, and the queues are served round-robin. One user holds at most half of the seats, so that requests that hang
// block one user and not the server.
import { createLinkedQueue, type LinkedQueue, type QueueEntry } from '../../host/linked-queue.ts';

export type FairQueueOptions = {
  /** Requests that run at a time; 0 is no limit. */
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

/** The requests of one user. A request gets it with its seat and releases it. */
export type Flow = {
  readonly user: string;
  seatsInUse: number;
  readonly waiting: LinkedQueue<Waiter>;
};

type Waiter = {
  readonly flow: Flow;
  readonly proceed: () => void;
  readonly refuse: (why: NoSeat) => void;
  readonly deadline: number;
  /** Undefined once it no longer waits. */
  entries: { readonly ofAll: QueueEntry<Waiter>; readonly ofFlow: QueueEntry<Waiter> } | undefined;
};

export type FairQueue = {
  /** At once when a seat is free, else a promise of one; throws or rejects with NoSeat. */
  readonly acquire: (user: string, signal: () => AbortSignal) => Flow | Promise<Flow>;
  readonly release: (flow: Flow) => void;
  readonly inUse: () => number;
  readonly waiting: () => number;
};

/** Up to this number, users without requests stay cached, so that not each of their requests creates a flow. */
const maxCachedFlows = 1000;

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { seats, queueLength } = options;
  const limit = seats === 0 ? Number.POSITIVE_INFINITY : seats;
  const maxPerUser = seats === 0 ? limit : Math.max(1, Math.ceil(seats / 2));
  const flows = new Map<string, Flow>();
  const queues = createQueues(options);
  let inUse = 0;

  function flowOf(user: string): Flow {
    let flow = flows.get(user);
    if (flow !== undefined) return flow;
    if (flows.size >= maxCachedFlows) removeIdle(flows);
    flow = { user, seatsInUse: 0, waiting: createLinkedQueue() };
    flows.set(user, flow);
    return flow;
  }

  function take(flow: Flow): Flow {
    inUse += 1;
    flow.seatsInUse += 1;
    return flow;
  }

  return {
    acquire(user, signal) {
      const flow = flowOf(user);
      if (inUse < limit && flow.seatsInUse < maxPerUser && flow.waiting.size() === 0)
        return take(flow);
      if (flow.waiting.size() >= queueLength) throw new NoSeat('queue-full');
      return queues.enqueue(flow, signal());
    },
    release(flow) {
      inUse -= 1;
      flow.seatsInUse -= 1;
      while (inUse < limit && queues.size() > 0) {
        const next = queues.dequeue((candidate) => candidate.seatsInUse < maxPerUser);
        if (next === undefined) return;
        take(next.flow);
        next.proceed();
      }
    },
    inUse: () => inUse,
    waiting: queues.size,
  };
}

function removeIdle(flows: Map<string, Flow>): void {
  for (const [user, flow] of flows) {
    if (flow.seatsInUse === 0 && flow.waiting.size() === 0) flows.delete(user);
  }
}

type Queues = {
  readonly enqueue: (flow: Flow, signal: AbortSignal) => Promise<Flow>;
  /** Removes the first waiter of the next eligible flow. */
  readonly dequeue: (isEligible: (flow: Flow) => boolean) => Waiter | undefined;
  readonly size: () => number;
};

function createQueues({ waitMs, onQueued = () => {} }: FairQueueOptions): Queues {
  /** Flows with waiters, the next one to serve first. */
  const roundRobin = new Set<Flow>();
  /** In the order of their deadlines. */
  const waiters = createLinkedQueue<Waiter>();
  let timer: NodeJS.Timeout | undefined;

  function remove(waiter: Waiter): void {
    const { entries } = waiter;
    if (entries === undefined) return;
    waiter.entries = undefined;
    waiters.remove(entries.ofAll);
    waiter.flow.waiting.remove(entries.ofFlow);
    if (waiter.flow.waiting.size() === 0) roundRobin.delete(waiter.flow);
    onQueued(-1);
  }

  /** One timer for all: the first waiter is the first to time out. */
  function startTimer(): void {
    const first = waiters.first();
    if (timer !== undefined || first === undefined) return;
    const remainingMs = Math.max(0, first.value.deadline - performance.now());
    timer = setTimeout(expire, Math.ceil(remainingMs)).unref();
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
    startTimer();
  }

  function add(waiter: Waiter): void {
    waiter.entries = { ofAll: waiters.add(waiter), ofFlow: waiter.flow.waiting.add(waiter) };
    roundRobin.add(waiter.flow);
    onQueued(1);
    startTimer();
  }

  return {
    enqueue: (flow, signal) =>
      new Promise((resolve, reject) => {
        const cancel = (): void => {
          remove(waiter);
          reject(new NoSeat('cancelled'));
        };
        const waiter: Waiter = {
          flow,
          deadline: performance.now() + waitMs,
          entries: undefined,
          proceed() {
            signal.removeEventListener('abort', cancel);
            resolve(flow);
          },
          refuse(why) {
            signal.removeEventListener('abort', cancel);
            reject(why);
          },
        };
        signal.addEventListener('abort', cancel, { once: true });
        add(waiter);
        if (signal.aborted) cancel();
      }),
    dequeue(isEligible) {
      for (const flow of roundRobin) {
        const waiter = flow.waiting.first()?.value;
        if (waiter === undefined || !isEligible(flow)) continue;
        remove(waiter);
        // Behind all other flows.
        if (roundRobin.delete(flow)) roundRobin.add(flow);
        return waiter;
      }
      return undefined;
    },
    size: waiters.size,
  };
}
