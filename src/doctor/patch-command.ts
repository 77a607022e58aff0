// The kubectl line that applies a patch.
import type { KubeObject } from '../meta/object.ts';
import type { ObjectName, Patch } from './check.ts';
import { objectName } from './object-names.ts';

export function patchCommand({ target, type, body }: Patch): string {
  const text = JSON.stringify(body);
  return kubectlLine('patch', target, ['--type', type, '-p', text]);
}

/** A line for the shell, with every word quoted that needs it. */
function kubectlLine(
  verb: string,
  { kind, namespace, name }: ObjectName,
  words: readonly string[] = [],
): string {
  const scope = namespace === undefined ? [] : ['-n', namespace];
  return ['kubectl', verb, kind.toLowerCase(), name, ...scope, ...words].map(shellWord).join(' ');
}

const plainWord = /^[\w@%+=:,./-]+$/;

function shellWord(text: string): string {
  if (text.length < 1000 && plainWord.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Its log, of a container that has restarted the previous one. */
export function logsLine({ metadata }: KubeObject, container?: string, previous = false): string {
  const { namespace = 'default', name = '' } = metadata;
  const of = container === undefined ? [] : ['-c', container];
  const words = [
    'kubectl',
    'logs',
    name,
    '-n',
    namespace,
    ...of,
    ...(previous ? ['--previous'] : []),
  ];
  return words.map(shellWord).join(' ');
}

/** With its events. */
export function describeLine(object: KubeObject): string {
  return kubectlLine('describe', objectName(object));
}
