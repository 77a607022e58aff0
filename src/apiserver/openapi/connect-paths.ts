// Paths of subresources that connect to something else than an object (proxy, exec, …): any request, any response.
import type { Verb } from '../../kinds/definition.ts';
import type { Json } from './components.ts';
import { pathParameter, proxiedPathParameter } from './parameters.ts';

export type ConnectTarget = {
  /** `core_v1` */
  readonly tag: string;
  /** `CoreV1` */
  readonly groupWords: string;
  /** `NamespacedServiceProxy` */
  readonly subject: string;
  /** The kind whose fields the query has. */
  readonly spoken: { readonly group: string; readonly version: string; readonly kind: string };
};

const connected = new Set(['proxy', 'exec', 'attach', 'portforward']);

export const isConnected = (subresource: string): boolean => connected.has(subresource);

const methods: readonly (readonly [Verb, string])[] = [
  ['get', 'get'],
  ['update', 'put'],
  ['create', 'post'],
  ['delete', 'delete'],
  ['patch', 'patch'],
];

/** One operation for each method; the proxy takes two more, which are no verbs of their own. */
export function connectOperations(
  target: ConnectTarget,
  verbs: readonly Verb[],
  isProxy: boolean,
): Readonly<Record<string, Json>> {
  const names = methods.filter(([verb]) => verbs.includes(verb)).map(([, method]) => method);
  const all = isProxy ? [...names, 'options', 'head'] : names;
  return Object.fromEntries(all.map((method) => [method, connect(target, method)]));
}

function connect({ tag, groupWords, subject, spoken }: ConnectTarget, method: string): Json {
  const word = method.charAt(0).toUpperCase() + method.slice(1);
  return {
    tags: [tag],
    description: `connect ${method.toUpperCase()} requests to ${subject.replace('Namespaced', '')}`,
    operationId: `connect${groupWords}${word}${subject}`,
    responses: {
      200: { description: 'OK', content: { '*/*': { schema: { type: 'string' } } } },
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': 'connect',
    'x-kubernetes-group-version-kind': spoken,
  };
}

/** Of the path to the subresource itself, and of one with more behind it. */
export const connectParameters = { own: [pathParameter], behind: [proxiedPathParameter] };
