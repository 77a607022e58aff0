// Changes as people write them on a command line.
import { printable } from '../meta/printable.ts';
import { type Change, ChangeError, type NamedKind, namedKinds, type ObjectRef } from './change.ts';

/** Longer texts are no changes. */
const maxLength = 10_000;
const maxNameLength = 253;
const maxNamespaceLength = 63;

export type ChangeWord = 'drain' | 'cordon' | 'delete' | 'scale' | 'set' | 'unready';

type Parser = (text: string, namespace: string) => Change;

const kindsOf: Readonly<Record<ChangeWord, readonly NamedKind[]>> = {
  drain: ['Node'],
  cordon: ['Node'],
  delete: Object.keys(namedKinds) as NamedKind[],
  scale: ['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController'],
  set: ['Service', 'Deployment', 'Node', 'Pod', 'ReplicaSet'],
  unready: ['Pod'],
};

const forms: Readonly<Record<ChangeWord, string>> = {
  drain: 'node/NAME',
  cordon: 'node/NAME',
  delete: 'KIND/[NAMESPACE/]NAME, as in pod/web-1 or svc/web',
  scale: 'KIND/[NAMESPACE/]NAME=REPLICAS, as in deploy/web=2',
  set: 'KIND/[NAMESPACE/]NAME:FIELD=VALUE, as in svc/web:internalTrafficPolicy=Local',
  unready: 'pod/[NAMESPACE/]NAME',
};

/** Throws ChangeError. Names without a namespace are in the given one. */
export function parseChange(word: ChangeWord, text: string, namespace: string): Change {
  if (text.length > maxLength) throw wrong(word, text, forms[word]);
  return parsers[word](text, namespace);
}

const parsers: Readonly<Record<ChangeWord, Parser>> = {
  drain: (text, namespace) => onNode('drain', text, namespace),
  cordon: (text, namespace) => onNode('cordon', text, namespace),
  delete: (text, namespace) => ({
    ...{ kind: 'delete', text: textOf('delete', text) },
    target: parseRef('delete', text, namespace),
  }),
  unready: (text, namespace) => ({
    ...{ kind: 'unready', text: textOf('unready', text) },
    target: parseRef('unready', text, namespace),
  }),
  scale: parseScale,
  set: parseSet,
};

/** For messages and output. */
const textOf = (word: ChangeWord, text: string): string => `--${word} ${printable(text)}`;

function onNode(word: 'drain' | 'cordon', text: string, namespace: string): Change {
  const { name } = parseRef(word, text, namespace);
  return { kind: word, text: textOf(word, text), node: name };
}

const maxReplicas = 2 ** 31 - 1;

function parseScale(text: string, namespace: string): Change {
  const at = text.lastIndexOf('=');
  const count = at === -1 ? '' : text.slice(at + 1);
  if (!/^-?\d{1,10}$/.test(count) || Math.abs(Number(count)) > maxReplicas) {
    throw wrong('scale', text, forms.scale);
  }
  const target = parseRef('scale', text.slice(0, at), namespace);
  return { kind: 'scale', text: textOf('scale', text), target, replicas: Number(count) };
}

function parseSet(text: string, namespace: string): Change {
  const colon = text.indexOf(':');
  const rest = text.slice(colon + 1);
  const equals = colon === -1 ? -1 : outerEquals(rest);
  if (equals < 1) throw wrong('set', text, forms.set);
  return {
    ...{ kind: 'set', text: textOf('set', text) },
    target: parseRef('set', text.slice(0, colon), namespace),
    path: rest.slice(0, equals),
    value: rest.slice(equals + 1),
  };
}

/** The first `=` that is not in brackets, as that of `ports[name=http].port=81` is. */
function outerEquals(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '[') depth += 1;
    else if (character === ']') depth -= 1;
    else if (character === '=' && depth === 0) return at;
  }
  return -1;
}

function parseRef(word: ChangeWord, text: string, namespace: string): ObjectRef {
  const [type = '', ...rest] = text.split('/');
  const kind = kindNamed(type);
  if (kind === undefined || !kindsOf[word].includes(kind)) {
    throw wrong(word, text, kind === undefined ? forms[word] : kindsText(word, kind));
  }
  const { namespaced } = namedKinds[kind];
  const name = rest.at(-1) ?? '';
  const own = rest.length === 2 && namespaced ? rest[0] : undefined;
  const isCounted = rest.length === 1 || own !== undefined;
  if (!isCounted || !isName(name) || (own !== undefined && !isLabel(own))) {
    throw wrong(word, text, forms[word]);
  }
  return { kind, name, ...(namespaced ? { namespace: own ?? namespace } : {}) };
}

function kindNamed(word: string): NamedKind | undefined {
  const lower = word.toLowerCase();
  const kinds = Object.keys(namedKinds) as NamedKind[];
  return kinds.find((kind) => namedKinds[kind].words.includes(lower));
}

function kindsText(word: ChangeWord, kind: NamedKind): string {
  const allowed = kindsOf[word].map((one) => one.toLowerCase());
  return `--${word} takes ${allowed.join(', ')}, no ${kind.toLowerCase()}`;
}

function wrong(word: ChangeWord, text: string, want: string): ChangeError {
  const shown = printable(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  const sentence = want.startsWith('--') ? want : `want ${want}`;
  return new ChangeError(`--${word}: "${shown}" is no such change, ${sentence}`);
}

const isName = (text: string): boolean =>
  text.length <= maxNameLength && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text);

const isLabel = (text: string): boolean =>
  text.length <= maxNamespaceLength && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);
