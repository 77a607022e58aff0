// Reads the rules for a comparison.
import type { ProxyState } from '../../model/state.ts';
import type { Drift } from '../mode.ts';
import { openPrograms } from './apply-programs.ts';
import { driftOf } from './drift.ts';
import { readSettings } from './settings.ts';

export async function readDrift(state: ProxyState): Promise<Drift | undefined> {
  const programs = await openPrograms({ family: state.node.family, ...readSettings({}) });
  return driftOf(await programs.readAll(), state);
}
