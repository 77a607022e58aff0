// compareCluster() with several changes, with changes that are refused, and with rights that are too small to know all.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isApiError } from '../meta/api-error.ts';
import { makeSnapshot, type Snapshot, type Unread } from '../snapshot/snapshot.ts';
import { ChangeError } from './change.ts';
import {
  type ExampleChange,
  exampleCluster,
  exampleWhatIf,
  podOn,
  serviceIn,
  viewsInShort,
} from './example.ts';

describe('compareCluster() makes several changes', () => {
  it('in order, as one', () => {
    const found = exampleWhatIf(exampleCluster(), [
      ['cordon', 'node/n2'],
      ['scale', 'deploy/web=4'],
    ]);
    assert.match(viewsInShort(serviceIn(found))[0] ?? '', /new@n1 0>25$/);
  });

  it('and has a Deployment make a deleted ReplicaSet anew, or undo its scale', () => {
    const before = exampleCluster();
    const set = before.objects.replicaSets[0]?.metadata.name ?? '';
    assert.equal(exampleWhatIf(before, [['delete', `rs/${set}`]]).pods.created, 3);
    const scaled = exampleWhatIf(before, [['scale', `rs/${set}=1`]]);
    assert.equal(scaled.pods.created, scaled.pods.deleted);
    assert.ok(scaled.assumptions.some((text) => /belongs to Deployment web/.test(text)));
  });

  it('restricted to a namespace', () => {
    const found = exampleWhatIf(exampleCluster(), [['scale', 'deploy/web=0']], 'other');
    assert.deepEqual(found.services, []);
    assert.match(found.verdict.sentence, /of namespace other/);
  });

  const refused: readonly (readonly [string, readonly ExampleChange[], RegExp])[] = [
    [
      'one contradicts another',
      [
        ['scale', 'deploy/web=2'],
        ['scale', 'deploy/web=3'],
      ],
      /contradict each other/,
    ],
    [
      'one removes what another names',
      [
        ['delete', 'deploy/web'],
        ['scale', 'deploy/web=3'],
      ],
      /--delete deploy\/web has removed/,
    ],
    [
      'an object does not exist',
      [['delete', 'svc/nothing']],
      /services "nothing" not found in namespace "default"/,
    ],
    ['a node does not exist', [['drain', 'node/n9']], /nodes "n9" not found/],
    ['a workload is not known', [['scale', 'sts/db=2']], /StatefulSet default\/db is not known/],
  ];
  for (const [title, changes, why] of refused) {
    it(`refuses them where ${title}`, () => {
      assert.throws(
        () => exampleWhatIf(exampleCluster(), changes),
        (error) => error instanceof ChangeError && why.test(error.message),
      );
    });
  }

  const invalid: readonly (readonly [string, RegExp])[] = [
    [
      'svc/web:internalTrafficPolicy=Loca',
      /Unsupported value: "Loca": supported values: "Cluster", "Local"/,
    ],
    ['svc/web:colour=red', /strict decoding error: unknown field "spec.colour"/],
    ['svc/web:ports[0].port=many', /cannot unmarshal string into Go struct field/],
    ['deploy/web:replicas=-1', /must be greater than or equal to 0/],
    ['deploy/web:selector.matchLabels.app=x', /field is immutable/],
  ];
  for (const [text, why] of invalid) {
    it(`refuses ${text} as the API server does`, () => {
      assert.throws(
        () => exampleWhatIf(exampleCluster(), [['set', text]]),
        (error) => isApiError(error) && why.test(error.message),
      );
    });
  }
});

describe('compareCluster() with few rights', () => {
  const unread = (kind: Unread['kind']): Unread => ({
    kind,
    reason: 'forbidden',
    message: `${kind} is forbidden`,
  });
  const without = (kind: 'pods' | 'nodes' | 'replicaSets'): Snapshot => {
    const { objects } = exampleCluster();
    return makeSnapshot({ objects: { ...objects, [kind]: [] }, unread: [unread(kind)] });
  };

  it('compares without pods what does not depend on them', () => {
    const found = exampleWhatIf(without('pods'), [['set', 'svc/web:internalTrafficPolicy=Local']]);
    assert.equal(found.services.length, 1);
    assert.ok(
      found.assumptions.includes('Pods cannot be read: endpoints are taken to stay as they are'),
    );
    const deleted = exampleWhatIf(without('pods'), [['delete', 'svc/web']]);
    assert.equal(deleted.verdict.level, 'outage');
  });

  it('says without pods that the rest is unknown', () => {
    for (const change of [
      ['drain', 'node/n1'],
      ['scale', 'deploy/web=1'],
      ['set', 'svc/web:selector.app=x'],
      ['delete', 'pod/web-1'],
      ['delete', 'deploy/web'],
    ] as const) {
      assert.throws(
        () => exampleWhatIf(without('pods'), [change]),
        (error) => error instanceof ChangeError && /pods cannot be read/.test(error.message),
        change.join(' '),
      );
    }
  });

  it('takes the nodes that pods name where nodes cannot be read', () => {
    const snapshot = without('nodes');
    const pod = podOn(snapshot, 'n2');
    const found = exampleWhatIf(snapshot, [['delete', `pod/${pod}`]]);
    assert.equal(found.verdict.level, 'change');
    assert.deepEqual(found.pods.unscheduled, []);
    assert.ok(found.assumptions.some((text) => /^Nodes cannot be read/.test(text)));
  });

  it('takes pods of ReplicaSets that cannot be read to be made anew', () => {
    const snapshot = without('replicaSets');
    const found = exampleWhatIf(snapshot, [['drain', 'node/n2']]);
    assert.equal(found.pods.created, 1);
  });
});
