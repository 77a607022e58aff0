// Decides what becomes of an event that a part reports: a new Event, one more count of an old one, or nothing,
// so that a loop that fails all day fills neither the store nor a person's screen. Upstream: client-go/tools/record.
import type { ObjectReference } from '../kinds/object-reference.ts';

export type ReportedEvent = {
  readonly object: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** One word, such as FailedToUpdateEndpointSlices. */
  readonly reason: string;
  readonly message: string;
  /** What was done or tried, for those who tell. */
  readonly action?: string;
};

export type EventDecision =
  | { readonly action: 'create'; readonly message: string }
  | {
      readonly action: 'count';
      /** The Event that was stored for it before. */
      readonly name: string;
      readonly message: string;
      readonly count: number;
    }
  | { readonly action: 'drop' };

export type EventCorrelator = {
  readonly decide: (event: ReportedEvent, now: number) => EventDecision;
  /** Under which name the event was stored, so that the next one like it is counted there. */
  readonly stored: (event: ReportedEvent, name: string, now: number) => void;
  /** The stored Event has gone; the next one like it is new. */
  readonly forget: (event: ReportedEvent) => void;
};

/** Events about one object: a burst, then one in five minutes. */
const burst = 25;
const refillMs = 300_000;
/** So many different messages of one reason within the window are combined into one Event. */
const maxMessages = 10;
const messagesWindowMs = 600_000;
/** Objects and events remembered; the oldest are forgotten first. */
const maxRemembered = 4096;

type Bucket = { tokens: number; at: number };
type Messages = { readonly texts: Set<string>; at: number };
type Counted = { readonly name: string; count: number };

export function createEventCorrelator(): EventCorrelator {
  const buckets = new Map<string, Bucket>();
  const messages = new Map<string, Messages>();
  const counted = new Map<string, Counted>();

  const grouped = (event: ReportedEvent, now: number): { key: string; message: string } => {
    const similar = `${objectText(event.object)} ${event.type} ${event.reason}`;
    const seen = messages.get(similar);
    const isFresh = seen !== undefined && now - seen.at <= messagesWindowMs;
    const texts = isFresh ? seen.texts : new Set<string>();
    if (texts.size < maxMessages) texts.add(event.message);
    remember(messages, similar, { texts, at: now });
    if (texts.has(event.message) && texts.size < maxMessages) {
      return { key: `${similar} ${event.message}`, message: event.message };
    }
    return { key: similar, message: `(combined from similar events): ${event.message}` };
  };

  return {
    decide(event, now) {
      if (!takeToken(buckets, objectText(event.object), now)) return { action: 'drop' };
      const { key, message } = grouped(event, now);
      const before = counted.get(key);
      if (before === undefined) return { action: 'create', message };
      before.count += 1;
      return { action: 'count', name: before.name, message, count: before.count };
    },
    stored(event, name, now) {
      const { key } = grouped(event, now);
      remember(counted, key, { name, count: counted.get(key)?.count ?? 1 });
    },
    forget(event) {
      const similar = `${objectText(event.object)} ${event.type} ${event.reason}`;
      counted.delete(`${similar} ${event.message}`);
      counted.delete(similar);
    },
  };
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
