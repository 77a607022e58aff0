// The output of `status` for a running `up`.

import type { UpState } from '../flags/state-file.ts';
import type { PullState } from '../node/images/run-pulls.ts';
import type { RelayState } from '../relay/run.ts';
import { sharedText } from '../relay/run-claims.ts';

export function statusText(state: UpState, now: number): string {
  const { nodes, relays, pulls = [] } = state;
  const rows: readonly (readonly [string, readonly string[]])[] = [
    [
      'Running',
      [
        `since ${new Date(state.startedAt).toISOString()} (${ageText(now - state.startedAt)}), process ${state.pid}, version ${state.version}`,
      ],
    ],
    ['API server', [state.url]],
    ['Kubeconfig', [state.kubeconfig]],
    ['Data', [state.dataDir]],
    ['Network', state.networkText.split('\n')],
    ['Nodes', nodes.map(nodeLine)],
    ['DNS', state.dns.length === 0 ? [] : [`${state.dns.join(', ')} for ${state.domain}`]],
    ['Relays', relays.map(relayLine)],
    ['Pulling', pulls.map(pullLine)],
  ];
  return rows
    .filter(([, lines]) => lines.length > 0)
    .flatMap(([name, lines]) =>
      lines.map((line, index) => `${(index === 0 ? name : '').padEnd(nameWidth)}${line}\n`),
    )
    .join('');
}

const nameWidth = 13;

function nodeLine({ name, addresses, proxy }: UpState['nodes'][number]): string {
  return `${name} at ${addresses.join(', ')}; proxy ${proxy === '' ? 'starting' : proxy}`;
}

function pullLine({ image, layers, layersDone, doneBytes, totalBytes }: PullState): string {
  const share = totalBytes === 0 ? '' : ` (${Math.floor((doneBytes * 100) / totalBytes)}%)`;
  return layers === 0
    ? image
    : `${image}: ${layersDone} of ${layers} layers, ${megabytes(doneBytes)} of ${megabytes(totalBytes)}${share}`;
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

export function relayLine({
  protocol,
  listen,
  target,
  purpose,
  service,
  problem,
  isShared,
}: RelayState): string {
  const address = `${listen.host}:${listen.port}/${protocol}`;
  const what = `${purpose} of ${service}${purpose === 'node port' ? '' : `, ${target.host}:${target.port}`}`;
  if (problem !== undefined) return `${address} cannot be the ${what}: ${problem}`;
  return `${address} is the ${what}${isShared === true ? `; ${sharedText}` : ''}`;
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];

function ageText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}
