// Correlates reported events: each becomes a new Event, increments the count of a stored one, or is dropped, so that a loop that
// fails all day floods neither the store nor `kubectl describe`. Upstream: client-go/tools/record.
import type { ObjectReference } from '../kinds/object-reference.ts';

export type ReportedEvent = {
  readonly object: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** One word, such as FailedToUpdateEndpointSlices. */
  readonly reason: string;
  readonly message: string;
  /** What was done or attempted. */
  readonly action?: string;
};

export type EventDecision =
  | { readonly action: 'create'; readonly message: string }
  | {
      readonly action: 'count';
      /** The name of the Event that is stored for it. */
      readonly name: string;
      readonly message: string;
      readonly count: number;
    }
  | { readonly action: 'drop' };

export type EventCorrelator = {
  readonly decide: (event: ReportedEvent, now: number) => EventDecision;
  /** Records the name under which the event was stored; the next event like it increments that Event's count. */
  readonly stored: (event: ReportedEvent, name: string, now: number) => void;
  /** The stored Event was deleted: the next event like it creates a new one. */
  readonly forget: (event: ReportedEvent) => void;
};

/** Events per object: a burst, then one every five minutes. */
const burst = 25;
const refillMs = 300_000;
/** From this many different messages of one reason within the window, events are combined into one. */
const maxMessages = 10;
const messagesWindowMs = 600_000;
/** Entries per map; the oldest are evicted first. */
const maxRemembered = 4096;

type Bucket = { tokens: number; at: number };
type Messages = { readonly texts: Set<string>; at: number };
type Counted = { readonly name: string; count: number };

export function createEventCorrelator(): EventCorrelator {
  const buckets = new Map<string, Bucket>();
  const messages = new Map<string, Messages>();
  const counted = new Map<string, Counted>();

  const correlate = (event: ReportedEvent, now: number): { key: string; message: string } => {
    const similar = `${objectText(event.object)} ${event.type} ${event.reason}`;
    const known = messages.get(similar);
    const isFresh = known !== undefined && now - known.at <= messagesWindowMs;
    const texts = isFresh ? known.texts : new Set<string>();
    if (texts.size < maxMessages) texts.add(event.message);
    remember(messages, similar, { texts, at: now });
    if (texts.has(event.message) && texts.size < maxMessages) {
      return { key: countedKey(similar, event), message: event.message };
    }
    return { key: similar, message: `(combined from similar events): ${event.message}` };
  };

  return {
    decide(event, now) {
      if (!takeToken(buckets, objectText(event.object), now)) return { action: 'drop' };
      const { key, message } = correlate(event, now);
      const before = counted.get(key);
      if (before === undefined) return { action: 'create', message };
      before.count += 1;
      return { action: 'count', name: before.name, message, count: before.count };
    },
    stored(event, name, now) {
      const { key } = correlate(event, now);
      remember(counted, key, { name, count: counted.get(key)?.count ?? 1 });
    },
    forget(event) {
      const similar = `${objectText(event.object)} ${event.type} ${event.reason}`;
      counted.delete(countedKey(similar, event));
      counted.delete(similar);
    },
  };
}

/** Messages of two containers of a pod are often the same: the field tells them apart. */
function countedKey(similar: string, { object, message }: ReportedEvent): string {
  return `${similar} ${object.fieldPath ?? ''} ${message}`;
}

function objectText({ kind, namespace, name, uid, apiVersion }: ObjectReference): string {
  return [apiVersion, kind, namespace, name, uid].join(' ');
}

function takeToken(buckets: Map<string, Bucket>, key: string, now: number): boolean {
  const { tokens, at } = buckets.get(key) ?? { tokens: burst, at: now };
  const refilled = Math.min(burst, tokens + (now - at) / refillMs);
  remember(buckets, key, { tokens: refilled >= 1 ? refilled - 1 : refilled, at: now });
  return refilled >= 1;
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest);
}
