// When a Service answers and when it does not, while its history is replayed.
import type { Described } from './describe-pod.ts';
import { durationText } from './duration-text.ts';
import type { Outage } from './history.ts';
import type { EndpointCounts } from './track-endpoints.ts';

export type Availability = {
  /** Undefined: there is no such Service. */
  readonly service: ServiceNeeds | undefined;
  readonly counts: EndpointCounts;
};

/** A Service of type ExternalName has no endpoints, and needs none. */
export type ServiceNeeds = { readonly needsEndpoints: boolean };

export type OutageTracker = {
  /** The state after the changes of a moment. */
  readonly follow: (state: Availability, timeMs: number) => readonly Described[];
  readonly outages: (toMs: number) => readonly Outage[];
};

/**
 * absent: there never was a Service. starting: it has not had an endpoint yet. draining: only terminating endpoints answer. gone: it was
 * deleted after it had answered.
 */
type Phase = 'absent' | 'starting' | 'up' | 'draining' | 'down' | 'gone';

type Open = {
  readonly beganMs: number | undefined;
  readonly cause: Outage['cause'];
  /** The Service was deleted meanwhile. */
  readonly goneMs?: number;
};

export function createOutageTracker(start: Availability, startMs: number): OutageTracker {
  const ended: Outage[] = [];
  let phase = phaseAtStart(start);
  let open: Open | undefined =
    phase === 'down' ? { beganMs: undefined, cause: 'no-endpoints' } : undefined;

  function begin(timeMs: number, cause: Outage['cause']): void {
    open ??= { beganMs: timeMs, cause };
  }

  function recover(timeMs: number): readonly Described[] {
    const past = open;
    open = undefined;
    if (past === undefined)
      return [good('FirstEndpointReady', 'first endpoint is ready: the Service answers')];
    const milliseconds = lengthOf(past, timeMs, startMs);
    ended.push(endedAt(past, timeMs, startMs));
    const duration = durationText(milliseconds);
    return [
      past.cause === 'service-deleted'
        ? good('OutageEnded', `answers again, ${duration} after the Service was deleted`)
        : good('OutageEnded', `answers again, after ${duration} without an endpoint`),
    ];
  }

  function enter(before: Phase, state: Availability, timeMs: number): readonly Described[] {
    switch (phase) {
      case 'absent':
      case 'starting':
        return [];
      case 'gone':
        begin(timeMs, 'service-deleted');
        open = open && { ...open, goneMs: timeMs };
        return [];
      case 'down':
        // A Service that was created again is down since it was deleted.
        if (open !== undefined) return [];
        begin(timeMs, 'no-endpoints');
        return [
          bad(
            'OutageBegan',
            before === 'draining'
              ? 'last terminating endpoint lost: nothing answers'
              : 'last ready endpoint lost: nothing answers',
          ),
        ];
      case 'draining':
        return before === 'up' ? [drainingEvent(state)] : recover(timeMs);
      case 'up':
        return before === 'draining' ? [] : recover(timeMs);
    }
  }

  return {
    follow(state, timeMs) {
      const before = phase;
      phase = nextPhase(before, state);
      return phase === before ? [] : enter(before, state, timeMs);
    },
    outages(toMs) {
      if (open === undefined) return ended;
      if (phase !== 'gone') return [...ended, shown(open, lengthOf(open, toMs, startMs))];
      // What was deleted and stays so is no outage.
      if (open.cause === 'service-deleted') return ended;
      return [...ended, endedAt(open, open.goneMs ?? toMs, startMs)];
    },
  };
}

/** Clocks may be set back. */
const lengthOf = ({ beganMs }: Open, toMs: number, startMs: number): number =>
  Math.max(0, toMs - (beganMs ?? startMs));

const endedAt = (open: Open, timeMs: number, startMs: number): Outage => ({
  ...shown(open, lengthOf(open, timeMs, startMs)),
  ended: new Date(timeMs).toISOString(),
});

function shown({ beganMs, cause }: Open, milliseconds: number): Outage {
  const began = beganMs === undefined ? {} : { began: new Date(beganMs).toISOString() };
  return { ...began, milliseconds, cause };
}

function phaseAtStart({ service, counts }: Availability): Phase {
  if (service === undefined) return 'absent';
  if (!service.needsEndpoints || counts.ready > 0) return 'up';
  return counts.draining > 0 ? 'draining' : 'down';
}

function nextPhase(before: Phase, { service, counts }: Availability): Phase {
  if (service === undefined)
    return before === 'absent' || before === 'starting' ? 'absent' : 'gone';
  if (!service.needsEndpoints || counts.ready > 0) return 'up';
  if (counts.draining > 0 && before !== 'absent') return 'draining';
  return before === 'absent' || before === 'starting' ? 'starting' : 'down';
}

const bad = (type: Described['type'], sentence: string): Described => ({
  ...{ type, level: 'bad', sentence },
});

const good = (type: Described['type'], sentence: string): Described => ({
  ...{ type, level: 'good', sentence },
});

function drainingEvent({ counts: { draining } }: Availability): Described {
  const who =
    draining === 1 ? 'one that is terminating answers' : `${draining} that are terminating answer`;
  return bad('LastReadyEndpointLost', `last ready endpoint lost: only ${who}`);
}
