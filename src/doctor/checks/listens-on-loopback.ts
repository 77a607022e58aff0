import type { Container } from '../../kinds/pod/container.ts';
import { targetPortNumber } from '../../kinds/service/backends.ts';
import type { ServiceCheck } from '../check.ts';
import { servingContainers } from '../container-ports.ts';
import { objectName } from '../object-names.ts';

export const listensOnLoopback: ServiceCheck = {
  code: 'FL0209',
  severity: 'warning',
  title: 'The program listens on loopback only',
  scope: 'service',
  needs: ['services', 'pods'],
  find(subject) {
    const [pod] = subject.pods();
    if (pod === undefined || pod.spec.hostNetwork === true) return [];
    const containers = servingContainers(pod);
    return (subject.service.spec.ports ?? []).flatMap((port) => {
      const number = targetPortNumber(pod, port);
      if (number === undefined) return [];
      // With several containers, the one that declares the port is meant.
      const owner =
        containers.find(({ ports = [] }) =>
          ports.some(({ containerPort }) => containerPort === number),
        ) ?? (containers.length === 1 ? containers[0] : undefined);
      const word = owner === undefined ? undefined : loopbackWord(owner, number);
      if (owner === undefined || word === undefined) return [];
      return [
        {
          message: `Port ${port.port} leads to ${number}, where container ${owner.name} listens on loopback only ("${word}"): connections from outside of the pod are refused`,
          evidence: [
            { object: objectName(pod), field: `spec.containers[${owner.name}]`, value: word },
          ],
          fix: {
            sentence: 'Let the program listen on all addresses: 0.0.0.0, or :: for both families',
          },
        },
      ];
    });
  },
};

const maxWords = 500;
const maxWordLength = 300;
const loopback: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1', '[::1]']);
/** Last words of flags and variables that name what to listen on, not what to connect to. */
const listenWords: ReadonlySet<string> = new Set([
  'bind',
  'listen',
  'addr',
  'address',
  'host',
  'interface',
]);

/** The word that says it. An address without this port must be the value of a flag or variable for listening. */
function loopbackWord(
  { command = [], args = [], env = [] }: Container,
  number: number,
): string | undefined {
  const words = [...command, ...args]
    .filter(({ length }) => length <= maxWordLength)
    .slice(0, maxWords);
  const pairs: (readonly [string, string, string])[] = words.map((word, at) => {
    const equals = word.indexOf('=');
    if (equals > 0) return [word.slice(0, equals), word.slice(equals + 1), word];
    const flag = words[at - 1] ?? '';
    return [
      flag.startsWith('-') ? flag : '',
      word,
      flag.startsWith('-') ? `${flag} ${word}` : word,
    ];
  });
  for (const { name = '', value = '' } of env.slice(0, maxWords)) {
    if (value.length <= maxWordLength) pairs.push([name, value, `${name}=${value}`]);
  }
  return pairs.find(([name, value]) => isLoopback(name, value, number))?.[2];
}

function isLoopback(name: string, value: string, number: number): boolean {
  const words = name
    .toLowerCase()
    .split(/[-_.]+/)
    .filter((word) => word !== '');
  if (!listenWords.has(words.at(-1) ?? '')) return false;
  const [, rest = value] = value.split('://');
  const end = rest.lastIndexOf(':');
  if (loopback.has(rest.slice(0, end)) && end > 0) return rest.slice(end + 1) === String(number);
  // Without a port, the flag must leave no doubt.
  const isForListening = words.includes('bind') || words.includes('listen') || words.length === 1;
  return isForListening && loopback.has(rest);
}
