// Metrics of work queues, with client-go's names. One set per program; the label `name` tells queues apart.
import type { Clock } from '../host/clock.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';

/** Called by one queue on its events. */
export type QueueObserver = {
  readonly added: () => void;
  readonly depthIs: (keys: number) => void;
  readonly retried: () => void;
  /** A worker took a key that had waited this long. */
  readonly waited: (ms: number) => void;
  /** Work on a key starts; call the returned function when it has ended. */
  readonly started: () => () => void;
};

export type QueueMetrics = { readonly of: (queue: string) => QueueObserver };

/** As client-go: powers of ten from ten nanoseconds. */
const buckets = Array.from({ length: 10 }, (_, power) => 10 ** (power - 8));

export function createQueueMetrics(registry: MetricsRegistry, clock: Clock): QueueMetrics {
  const named = (name: string, help: string) => ({ name: `workqueue_${name}`, help });
  const adds = registry.counter(named('adds_total', 'Keys added.'));
  const depth = registry.gauge(named('depth', 'Keys that wait for a worker.'));
  const retries = registry.counter(named('retries_total', 'Keys that failed and will come back.'));
  const waits = registry.histogram({
    ...named('queue_duration_seconds', 'How long keys waited for a worker.'),
    buckets,
  });
  const work = registry.histogram({
    ...named('work_duration_seconds', 'How long work on a key took.'),
    buckets,
  });
  const running = new Map<string, Set<{ readonly since: number }>>();
  const ages = (join: (ages: readonly number[]) => number) => () =>
    [...running].map(([name, under]) => {
      const now = clock.now();
      return { labels: { name }, value: join([...under].map(({ since }) => (now - since) / 1000)) };
    });
  registry.gaugeFrom(
    named('unfinished_work_seconds', 'Time spent on all work that goes on now.'),
    ages((seconds) => seconds.reduce((sum, one) => sum + one, 0)),
  );
  registry.gaugeFrom(
    named('longest_running_processor_seconds', 'Time spent on the oldest work that goes on now.'),
    ages((seconds) => Math.max(0, ...seconds)),
  );
  return {
    of(name) {
      const labels = { name };
      const under = new Set<{ readonly since: number }>();
      running.set(name, under);
      depth.set(labels, 0);
      return {
        added: () => adds.add(labels),
        depthIs: (keys) => depth.set(labels, keys),
        retried: () => retries.add(labels),
        waited: (ms) => waits.observe(labels, ms / 1000),
        started() {
          const one = { since: clock.now() };
          under.add(one);
          return () => {
            under.delete(one);
            work.observe(labels, (clock.now() - one.since) / 1000);
          };
        },
      };
    },
  };
}
