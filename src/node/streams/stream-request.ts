// Parses requests to /exec, /attach and /portForward (upstream: kubelet's pkg/kubelet/server/server.go).

export type PodReference = { readonly namespace: string; readonly pod: string };

export type CommandRequest = PodReference & {
  readonly kind: 'exec' | 'attach';
  readonly container: string;
  readonly command: readonly string[];
  readonly hasInput: boolean;
  readonly hasOutput: boolean;
  /** Never with a terminal, which has a single output. */
  readonly hasErrors: boolean;
  readonly hasTerminal: boolean;
};

export type ForwardRequest = PodReference & {
  readonly kind: 'portForward';
  readonly ports: readonly number[];
};

export type StreamRequest = CommandRequest | ForwardRequest;

/** An error with its HTTP status. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Each port has a connection of its own. */
const maxPorts = 100;

/** Undefined for other paths; throws StreamError for invalid requests. */
export function parseStreamRequest(url: URL): StreamRequest | undefined {
  const [, kind = '', ...rest] = url.pathname.split('/').map(decodeURIComponent);
  const { searchParams: query } = url;
  if (kind === 'portForward') {
    const [namespace = '', pod = ''] = segments(rest, 2);
    return { kind, namespace, pod, ports: parsePorts(query) };
  }
  if (kind !== 'exec' && kind !== 'attach') return undefined;
  const [namespace = '', pod = '', container = ''] = segments(rest, 3);
  const isSet = (name: string): boolean => query.get(name) === '1';
  const hasTerminal = isSet('tty');
  const request: CommandRequest = {
    kind,
    namespace,
    pod,
    container,
    command: query.getAll('command'),
    hasInput: isSet('input'),
    hasOutput: isSet('output'),
    hasErrors: isSet('error') && !hasTerminal,
    hasTerminal,
  };
  if (!request.hasInput && !request.hasOutput && !isSet('error')) {
    throw new StreamError(400, 'you must specify at least 1 of stdin, stdout, stderr');
  }
  if (kind === 'exec' && request.command.length === 0) {
    throw new StreamError(400, 'you must specify a command');
  }
  return request;
}

/** Old clients send the pod's uid before the container. */
function segments(rest: readonly string[], count: number): readonly string[] {
  const isWhole = rest.length === count || rest.length === count + 1;
  if (!isWhole || rest.some((part) => part === '')) throw new StreamError(404, 'page not found');
  return count === 3 && rest.length === 4 ? rest.toSpliced(2, 1) : rest;
}

function parsePorts(query: URLSearchParams): readonly number[] {
  const ports = query.getAll('port').flatMap((text) => text.split(','));
  if (ports.length > maxPorts) throw new StreamError(400, `more than ${maxPorts} ports`);
  return ports.map(parsePort);
}

export function parsePort(text: string): number {
  if (!/^\d+$/.test(text))
    throw new StreamError(400, `unable to parse ${JSON.stringify(text)} as a port`);
  const port = Number(text);
  if (port > 0 && port < 65_536) return port;
  throw new StreamError(400, `port ${JSON.stringify(text)} must be > 0 and <= 65535`);
}
