// Which controllers run: `*` stands for all of them, `name` for one, `-name` for all but that.
import type { Controller } from './controller.ts';

export type Choice =
  | { readonly controllers: readonly Controller[] }
  /** Names that are no controller. */
  | { readonly unknown: readonly string[] };

export function chooseControllers(
  all: readonly Controller[],
  words: readonly string[] = ['*'],
): Choice {
  const names = new Set(all.flatMap(namesOf));
  const unknown = words.filter((word) => word !== '*' && !names.has(word.replace(/^-/, '')));
  if (unknown.length > 0) return { unknown };
  return { controllers: all.filter((controller) => isChosen(controller, words)) };
}

/** The first name that matches decides; a controller that no name matches runs if there is a `*`. */
function isChosen(controller: Controller, words: readonly string[]): boolean {
  const names = namesOf(controller);
  const word = words.find((one) => names.includes(one.replace(/^-/, '')));
  return word === undefined ? words.includes('*') : !word.startsWith('-');
}

function namesOf({ name, shortName }: Controller): readonly string[] {
  return shortName === undefined ? [name] : [name, shortName];
}
