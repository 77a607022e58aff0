// Whether anything in a pod's spec says that a port is in use: declared ports, probes, arguments and variables.
import type { Container } from '../kinds/pod/container.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { servingContainers } from './container-ports.ts';

/** Enough of long argument lists and environments. */
const maxTexts = 500;
const maxTextLength = 1000;

/** Nothing holds programs to what they declare, so a number that stands anywhere counts. */
export function mentionsPort(pod: Pod, number: number): boolean {
  return servingContainers(pod).some(
    (container) =>
      probesPort(container, number) || textsOf(container).some((text) => has(text, number)),
  );
}

function probesPort(container: Container, number: number): boolean {
  const { readinessProbe, livenessProbe, startupProbe } = container;
  return [readinessProbe, livenessProbe, startupProbe].some(
    (probe) =>
      probe?.httpGet?.port === number ||
      probe?.tcpSocket?.port === number ||
      probe?.grpc?.port === number,
  );
}

function textsOf({ command = [], args = [], env = [] }: Container): readonly string[] {
  return [...command, ...args, ...env.map(({ value = '' }) => value)].slice(0, maxTexts);
}

function has(text: string, number: number): boolean {
  const digits = String(number);
  if (text.length > maxTextLength || !text.includes(digits)) return false;
  return text.split(/\D+/).includes(digits);
}
