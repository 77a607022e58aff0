// What a Service was at a moment, as text for people.
import { formatLocalTime } from '../meta/local-time.ts';
import { printable } from '../meta/printable.ts';
import { tableLines } from '../meta/text-table.ts';
import { serviceText } from './describe-service.ts';
import type { EndpointFacts, HistoryState, PodFacts } from './history.ts';
import type { RenderOptions } from './render-timeline.ts';
import { endpointStateText } from './track-endpoints.ts';

/** Of endpoints and of pods, without -v. */
const maxRows = 12;

export function renderState(history: HistoryState, options: RenderOptions): string {
  const { namespace, service: name, time, state } = history;
  const { paint } = options;
  const at = formatLocalTime(Date.parse(time), options);
  const { service, endpoints, pods, nodes } = state;
  if (service === undefined) return `There was no Service ${namespace}/${name} at ${at}\n`;
  const ready = endpoints.filter((one) => one.ready).length;
  const others = pods.filter((pod) => !endpoints.some((one) => one.pod === pod.name));
  const sick = nodes.filter((node) => !node.ready).map((node) => printable(node.name));
  return [
    `${paint.bold(`Service ${namespace}/${name}`)} at ${at}`,
    printable(serviceText(service)),
    ...(service.type === 'ExternalName' ? [] : [answersText(ready, endpoints.length, options)]),
    ...table(endpointRows(endpoints, pods), options),
    ...(others.length === 0 ? [] : ['', 'pods that are no endpoints:']),
    ...table(podRows(others), options),
    ...(sick.length === 0 ? [] : ['', paint.yellow(`nodes not ready: ${sick.join(', ')}`)]),
    '',
  ].join('\n');
}

function answersText(ready: number, total: number, { paint }: RenderOptions): string {
  if (total === 0) return paint.red('nothing answers: there are no endpoints');
  const text = `${ready} of ${total} ${total === 1 ? 'endpoint' : 'endpoints'} ready`;
  return ready === 0 ? paint.red(text) : text;
}

type Rows = readonly (readonly string[])[];

function endpointRows(endpoints: readonly EndpointFacts[], pods: readonly PodFacts[]): Rows {
  if (endpoints.length === 0) return [];
  const restarts = new Map(pods.map((pod) => [pod.name, String(pod.restarts)]));
  return [
    ['ADDRESS', 'POD', 'NODE', 'ZONE', 'STATE', 'RESTARTS'],
    ...endpoints.map((one) => [
      ...[one.address, one.pod ?? '-', one.node ?? '-', one.zone ?? '-', endpointStateText(one)],
      restarts.get(one.pod ?? '') ?? '-',
    ]),
  ];
}

function podRows(pods: readonly PodFacts[]): Rows {
  if (pods.length === 0) return [];
  return [
    ['POD', 'NODE', 'ADDRESS', 'STATUS', 'READY', 'RESTARTS'],
    ...pods.map((pod) => [
      ...[pod.name, pod.node ?? '-', pod.addresses[0] ?? '-', pod.status],
      ...[pod.ready ? 'yes' : 'no', String(pod.restarts)],
    ]),
  ];
}

function table(rows: Rows, { isVerbose, paint }: RenderOptions): readonly string[] {
  const shown = isVerbose ? rows : rows.slice(0, maxRows + 1);
  const hidden = rows.length - shown.length;
  const [title, ...lines] = tableLines(shown.map((row) => row.map(printable)));
  return [
    ...(title === undefined ? [] : ['', paint.dim(title)]),
    ...lines,
    ...(hidden === 0 ? [] : [paint.dim(`and ${hidden} more; -v shows them`)]),
  ];
}
