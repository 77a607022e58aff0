// Metrics of the agent, under the kubelet's names.
import type { Counter, MetricsRegistry } from '../observe/metrics.ts';

export type NodeMetrics = {
  readonly startedPods: Counter;
  readonly startedContainers: Counter;
  readonly startErrors: Counter;
  readonly probes: Counter;
  /** Read when scraped. */
  readonly countRunning: (pods: () => number, containers: () => number) => void;
};

export function createNodeMetrics(registry: MetricsRegistry): NodeMetrics {
  return {
    startedPods: registry.counter({
      name: 'kubelet_started_pods_total',
      help: 'Pods that got their network.',
    }),
    startedContainers: registry.counter({
      name: 'kubelet_started_containers_total',
      help: 'Starts of containers, by container_type.',
    }),
    startErrors: registry.counter({
      name: 'kubelet_started_containers_errors_total',
      help: 'Containers that did not start, by container_type and code.',
    }),
    probes: registry.counter({
      name: 'prober_probe_total',
      help: 'Outcomes of probes, by probe_type and result.',
    }),
    countRunning(pods, containers) {
      registry.gaugeFrom(
        { name: 'kubelet_running_pods', help: 'Pods that have their network.' },
        pods,
      );
      registry.gaugeFrom(
        { name: 'kubelet_running_containers', help: 'Containers that run.' },
        containers,
      );
    },
  };
}
