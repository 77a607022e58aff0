// Who answers at addresses that Services name and others own, in one mode: for tests on this kernel and in machines.
import assert from 'node:assert/strict';
import { runInLab } from './enter.ts';

/** To a pod, to the node itself. */
type Answers = Readonly<Record<string, readonly [string, string]>>;

const victim = ['victim', 'victim'] as const;
const thief = ['thief', 'thief'] as const;

export async function capturesNothing(mode: string): Promise<void> {
  const { external, status } = await answersIn(mode);
  const owned = {
    ...{ pod: victim, 'pod-elsewhere': victim, agent: victim, 'api-server-elsewhere': victim },
    ...{ balancer: victim, 'api-server': ['closed', 'closed'] },
  };
  // In ipvs mode the node itself has the balancer's addresses: it refuses unused ports.
  const refusal = mode === 'ipvs' ? 'ECONNREFUSED' : 'EHOSTUNREACH';
  assert.deepEqual(external, { ...owned, 'balancer-port': [refusal, refusal] });
  // Balancers may share an address, and have their own ports of it.
  assert.deepEqual(status, { ...owned, 'balancer-port': thief });
}

/** As kube-proxy: all but the port on which the balancer's own Service answers. */
export async function capturesAll(mode: string): Promise<void> {
  const { external, status } = await answersIn(mode, '--allow-foreign-addresses');
  const captured = {
    ...{ pod: thief, 'pod-elsewhere': thief, agent: thief, 'api-server-elsewhere': thief },
    ...{ balancer: victim, 'balancer-port': thief },
  };
  assert.deepEqual(external, captured);
  assert.deepEqual(status, captured);
}

async function answersIn(
  mode: string,
  ...flags: readonly string[]
): Promise<{ readonly external: Answers; readonly status: Answers }> {
  const { code, output, stdout } = await runInLab('capture.js', [mode, ...flags]);
  assert.equal(code, 0, output);
  const all: Answers = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}');
  const of = (by: string): Answers =>
    Object.fromEntries(
      Object.entries(all)
        .filter(([key]) => key.startsWith(`${by} `))
        .map(([key, answers]) => [key.slice(by.length + 1), answers]),
    );
  return { external: of('external'), status: of('status') };
}
