// Access modes, which claims and volumes share.
import { type FieldError, forbidden, notSupported, required } from '../../meta/field-error.ts';

export const oncePod = 'ReadWriteOncePod';
const knownModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', oncePod];

export function validateAccessModes(
  modes: readonly string[],
  field: string,
  detail: string,
): readonly FieldError[] {
  const isOncePod = modes.includes(oncePod);
  const isOther = modes.some((mode) => mode !== oncePod && knownModes.includes(mode));
  return [
    ...(modes.length === 0 ? [required(field, detail)] : []),
    ...modes.flatMap((mode) =>
      knownModes.includes(mode) ? [] : [notSupported(field, mode, knownModes)],
    ),
    ...(isOncePod && isOther
      ? [forbidden(field, 'may not use ReadWriteOncePod with other access modes')]
      : []),
  ];
}

const abbreviations: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  [oncePod, 'RWOP'],
];

/** As in tables: `RWO,ROX`, each once and in this order. */
export const accessModesText = (modes: readonly string[] = []): string =>
  abbreviations.flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(',');
