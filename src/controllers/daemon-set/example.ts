// Builders for tests.
import { defaultDaemonSet } from '../../kinds/daemon-set/defaults.ts';
import { type DaemonSet, daemonSetSchema } from '../../kinds/daemon-set/types.ts';
import { nodeNamed } from '../../kinds/node/example.ts';
import { now, podOf } from '../../kinds/pod/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { revisionLabel } from '../../meta/well-known-labels.ts';
import { decode } from '../../schema/decode.ts';
import type { DaemonSituation } from './desired.ts';

type Example = { readonly strategy?: object; readonly template?: object; readonly spec?: object };

export function exampleDaemonSet({ strategy, template, spec }: Example = {}): DaemonSet {
  const { object } = decode(daemonSetSchema, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'd', namespace: 'default', uid: 'd-uid', generation: 1 },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', image: 'i' }], ...template },
      },
      ...(strategy === undefined ? {} : { updateStrategy: { rollingUpdate: strategy } }),
      ...spec,
    },
  });
  return defaultDaemonSet(object as DaemonSet);
}

type DaemonExample = {
  readonly hash?: string;
  /** Absent: not ready. */
  readonly readySeconds?: number;
  readonly phase?: string;
  readonly isLeaving?: boolean;
  readonly name?: string;
};

/** A pod of the current revision, `new`, on a node. */
export function daemonOn(node: string, example: DaemonExample = {}): Pod {
  const { hash = 'new', readySeconds, phase, isLeaving = false } = example;
  const pod = podOf(example.name ?? `${hash}-${node}`, readySeconds);
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { app: 'web', [revisionLabel]: hash },
      ...(isLeaving ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { ...pod.spec, nodeName: node },
    status: { ...pod.status, ...(phase === undefined ? {} : { phase }) },
  };
}

export function situationOf(
  pods: readonly Pod[],
  more: Partial<DaemonSituation> = {},
): DaemonSituation {
  return {
    set: exampleDaemonSet(),
    nodes: ['a', 'b', 'c'].map((name) => nodeNamed(name)),
    hash: 'new',
    backOffOf: () => 0,
    now,
    pods,
    ...more,
  };
}
