// How a propagation and its changes are shown: at a terminal in place, in a pipe line by line, for programs an object a line.
import type { World } from '../../flags/command.ts';
import { escapedForJson } from '../../meta/printable.ts';
import type { Propagation, PropagationChange } from '../../propagation/propagation.ts';
import { renderChanges, renderPropagation } from '../../propagation/render-propagation.ts';
import { createRepaint } from '../explain/repaint.ts';
import { screenOf } from '../explain/screen.ts';
import { paintFor } from '../output/paint.ts';
import { objectText } from '../output/print.ts';
import type { PropagationFlags } from './propagation-flags.ts';

export type PropagationView = {
  /** The whole. */
  readonly show: (state: Propagation) => void;
  /** What has changed since. */
  readonly follow: (state: Propagation, changes: readonly PropagationChange[]) => void;
};

export function createPropagationView(
  { output, verbose = false, watch }: PropagationFlags,
  world: World,
): PropagationView {
  const { write } = world;
  if (output !== undefined) {
    const text = watch === true ? streamed[output] : (value: unknown) => objectText(value, output);
    return {
      show: (state) => write(text(state)),
      follow(_state, changes) {
        for (const change of changes) write(text(change));
      },
    };
  }
  const isLive = watch === true && world.terminal !== undefined;
  // What is painted again must fit.
  const options = () => ({
    ...{ paint: paintFor(world), isVerbose: verbose && !isLive, ...screenOf(world) },
  });
  const repaint = createRepaint(world);
  if (!isLive) {
    return {
      show: (state) => write(renderPropagation(state, options())),
      follow: (_state, changes) => write(renderChanges(changes, options())),
    };
  }
  let note: string | undefined;
  return {
    show: (state) => repaint(renderPropagation(state, options())),
    follow(state, changes) {
      note = noteAfter(note, changes);
      repaint(renderPropagation(state, { ...options(), ...(note === undefined ? {} : { note }) }));
    },
  };
}

const streamed = {
  json: (value: unknown) => `${escapedForJson(JSON.stringify(value))}\n`,
  yaml: (value: unknown) => `---\n${objectText(value, 'yaml')}`,
} as const;

/** What the table does not say. */
function noteAfter(
  before: string | undefined,
  changes: readonly PropagationChange[],
): string | undefined {
  let note = before;
  for (const { type, reason } of changes) {
    if (type === 'ServerFound') note = undefined;
    if (type === 'ServerLost')
      note = `the API server does not answer, trying again: ${reason ?? ''}`;
    if (type === 'ServiceDeleted') note = 'the Service was deleted';
  }
  return note;
}
