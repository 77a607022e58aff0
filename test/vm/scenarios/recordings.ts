// The recorded scenarios and what was recorded for them, as data.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { folder } from './programs.ts';

export type ScenarioObject = {
  readonly kind: 'Service' | 'EndpointSlice';
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly healthCheckNodePort?: number;
    readonly ports?: readonly { readonly nodePort?: number }[];
  };
  readonly status?: object;
};

export type ProbeStep = {
  /** From where. */
  readonly probe: string;
  readonly host: string;
  readonly port: number;
  readonly n?: number;
  readonly proto?: string;
  readonly localPort?: number;
  /** The answer counts that comes first. */
  readonly once?: boolean;
  /** How far each endpoint's share may be from the mean. */
  readonly even?: number;
  /** What is answered over HTTP counts as well. */
  readonly body?: boolean;
};

type WriteStep = {
  readonly create?: readonly ScenarioObject[];
  readonly replace?: readonly ScenarioObject[];
  readonly remove?: readonly ScenarioObject[];
};

export type Scenario = {
  readonly name: string;
  readonly steps: readonly (WriteStep | ProbeStep | { readonly wait: number })[];
};

/** What a scenario writes, and what is then looked at. */
export type Stage = {
  readonly writes: readonly WriteStep[];
  readonly probes: readonly ProbeStep[];
};

/** What a probe got, over all its connections. */
export type Observation = {
  readonly backends: readonly string[];
  readonly sources: readonly string[];
  readonly errors: readonly string[];
  readonly even?: boolean;
  readonly body?: object | null;
};

export type Observations = Readonly<Record<string, readonly Observation[]>>;

export async function readScenarios(): Promise<readonly Scenario[]> {
  const file = pathToFileURL(join(folder, 'scenarios.mjs')).href;
  const { scenarios } = (await import(file)) as { readonly scenarios: readonly Scenario[] };
  return scenarios;
}

export function readRecording(mode: string): Observations {
  const text = readFileSync(join(folder, 'expected', `${mode}.json`), 'utf8');
  return JSON.parse(text) as Observations;
}

/** Waits are left out: who runs the stages knows when what was written has arrived. */
export function stagesOf({ steps }: Scenario): readonly Stage[] {
  const stages: { writes: WriteStep[]; probes: ProbeStep[] }[] = [];
  for (const step of steps) {
    if ('wait' in step) continue;
    const last = stages.at(-1);
    if ('probe' in step) last?.probes.push(step);
    else if (last !== undefined && last.probes.length === 0) last.writes.push(step);
    else stages.push({ writes: [step], probes: [] });
  }
  return stages;
}
