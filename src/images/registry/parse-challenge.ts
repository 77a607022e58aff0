// What a registry demands in WWW-Authenticate (RFC 9110, 11.6.1). Pure.

export type Challenge =
  | { readonly kind: 'basic' }
  | {
      readonly kind: 'bearer';
      readonly realm: string;
      readonly service?: string;
      readonly scope?: string;
      /** Of the previous token: `insufficient_scope`, `invalid_token`. */
      readonly error?: string;
    };

/** Registries send some hundred characters. */
const maxLength = 8192;
const scheme = /^[ \t,]*([!#$%&'*+.^_`|~\w-]+)(?=[ \t,]|$)/;
const parameter = /^[ \t,]*([!#$%&'*+.^_`|~\w-]+)[ \t]?=[ \t]?(?:"((?:[^"\\]|\\.)*)"|([^",\s]*))/;

/** The strongest of those that are understood: Bearer before Basic. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  if (header === undefined || header.length > maxLength) return undefined;
  const challenges: Challenge[] = [];
  for (let rest = header; rest !== ''; ) {
    const name = scheme.exec(rest);
    if (name === null) break;
    const { values, remaining } = parametersOf(rest.slice(name[0].length));
    rest = remaining;
    challenges.push(...challengeOf(name[1]?.toLowerCase(), values));
  }
  return challenges.find(({ kind }) => kind === 'bearer') ?? challenges[0];
}

/** Empty for schemes that registries do not use. */
function challengeOf(
  kind: string | undefined,
  values: ReadonlyMap<string, string>,
): readonly Challenge[] {
  if (kind === 'basic') return [{ kind }];
  const realm = values.get('realm');
  if (kind !== 'bearer' || realm === undefined) return [];
  const [service, scope, error] = ['service', 'scope', 'error'].map((name) => values.get(name));
  return [
    {
      ...{ kind, realm },
      ...(service === undefined ? {} : { service }),
      ...(scope === undefined ? {} : { scope }),
      ...(error === undefined ? {} : { error }),
    },
  ];
}

function parametersOf(text: string): {
  readonly values: ReadonlyMap<string, string>;
  readonly remaining: string;
} {
  const values = new Map<string, string>();
  let remaining = text;
  for (let found = parameter.exec(remaining); found !== null; found = parameter.exec(remaining)) {
    const [all, name = '', quoted, token] = found;
    values.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? token ?? '');
    remaining = remaining.slice(all.length);
  }
  return { values, remaining: remaining.replace(/^[ \t,]+/, '') };
}
