// An account of AWS behind a real socket: the query protocols of EC2 and of both versions of Elastic Load Balancing, with state, with
// the checks that are documented, and with failures on demand.
import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Action, classicActions } from './classic.ts';
import { computeActions } from './compute.ts';
import { networkActions } from './network.ts';
import { decodeQuery, textOf } from './query.ts';
import { type Account, AwsError, type Limits, type World } from './world.ts';
import { encodeXml, type Xml } from './xml.ts';

/** The fate of a call. The last two do the work but send no response. */
export type Fault = 'none' | 'throttle' | 'fail' | 'fail-after' | 'drop-after';

export type EmulatorOptions = {
  readonly account: Account;
  readonly limits?: Partial<Limits>;
  /** What is read is as old as this. */
  readonly lagMs?: number;
  readonly faultOf?: (action: string) => Fault;
};

export type Emulator = {
  readonly endpoint: string;
  readonly account: () => Account;
  /** As a person would, or another program. */
  readonly change: (to: (account: Account) => Account) => void;
  readonly callCount: () => number;
  /** Resolves after so many calls, or when none has come for a while. */
  readonly whenCalled: (times: number) => Promise<void>;
  readonly stop: () => Promise<void>;
};

type Service = {
  readonly actions: Readonly<Record<string, Action>>;
  readonly isCompute: boolean;
  readonly namespace: string;
};

const services: Readonly<Record<string, Service>> = {
  '2012-06-01': {
    actions: classicActions,
    isCompute: false,
    namespace: 'http://elasticloadbalancing.amazonaws.com/doc/2012-06-01/',
  },
  '2015-12-01': {
    actions: networkActions,
    isCompute: false,
    namespace: 'http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/',
  },
  '2016-11-15': {
    actions: computeActions,
    isCompute: true,
    namespace: 'http://ec2.amazonaws.com/doc/2016-11-15/',
  },
};

export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { lagMs = 0, faultOf = () => 'none' } = options;
  const store = createStore(options.account, lagMs);
  const world: World = {
    ...store,
    nextId: createIds(),
    limits: { balancers: 1_000, rulesPerGroup: 60, pageSize: 100, ...options.limits },
  };
  const counter = createCallCounter();
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const input = decodeQuery(body);
      const action = textOf(input, 'Action') ?? '';
      counter.count();
      const service = services[textOf(input, 'Version') ?? ''];
      const isSigned = request.headers.authorization?.startsWith('AWS4-HMAC-SHA256') ?? false;
      answer({ response, service, action, fault: faultOf(action) }, () => {
        if (!isSigned) throw new AwsError('MissingAuthenticationToken', 'Not signed', 403);
        const act = service?.actions[action];
        if (act === undefined) throw new AwsError('InvalidAction', `No action '${action}'`);
        return act(input, world);
      });
    });
  });
  // Closing an idle connection just as the client reuses it would be an unintended failure.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    account: store.now,
    change: store.change,
    callCount: counter.total,
    whenCalled: counter.whenCalled,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Who waits for calls that do not come is at rest, or as good as. */
const quietMs = 250;

function createCallCounter() {
  const events = new EventEmitter();
  let total = 0;
  return {
    total: () => total,
    count(): void {
      total += 1;
      events.emit('call');
    },
    whenCalled(times: number): Promise<void> {
      return new Promise((resolve) => {
        const until = total + times;
        let timer: NodeJS.Timeout;
        const end = (): void => {
          clearTimeout(timer);
          events.off('call', inspect);
          resolve();
        };
        const inspect = (): void => {
          if (total < until) timer.refresh();
          else end();
        };
        timer = setTimeout(end, quietMs);
        events.on('call', inspect);
      });
    },
  };
}

function createIds(): () => string {
  let last = 0x1000;
  return () => {
    last += 1;
    return last.toString(16).padStart(17, '0');
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** Keeps as many old states as the lag needs. */
function createStore(first: Account, lagMs: number): Pick<World, 'now' | 'shown' | 'change'> {
  let states: readonly { readonly since: number; readonly account: Account }[] = [
    { since: Number.NEGATIVE_INFINITY, account: first },
  ];
  const now = (): Account => states.at(-1)?.account ?? first;
  const shown = (): Account => {
    const time = performance.now() - lagMs;
    const at = states.findLastIndex(({ since }) => since <= time);
    states = states.slice(Math.max(0, at));
    return states[0]?.account ?? first;
  };
  return {
    now,
    shown,
    change(to) {
      const account = to(now());
      if (lagMs === 0) states = [{ since: Number.NEGATIVE_INFINITY, account }];
      else states = [...states, { since: performance.now(), account }];
    },
  };
}

type Exchange = {
  readonly response: ServerResponse;
  readonly service: Service | undefined;
  readonly action: string;
  readonly fault: Fault;
};

function answer({ response, service, action, fault }: Exchange, act: () => Xml): void {
  const isCompute = service?.isCompute ?? false;
  const refuse = (error: AwsError): void =>
    send(response, error.status, errorXml(error, isCompute));
  if (fault === 'throttle') {
    refuse(
      isCompute
        ? new AwsError('RequestLimitExceeded', 'Request limit exceeded.', 503)
        : new AwsError('Throttling', 'Rate exceeded', 400),
    );
    return;
  }
  if (fault === 'fail') {
    refuse(new AwsError('InternalFailure', 'Something broke', 500));
    return;
  }
  try {
    const result = act();
    if (fault === 'drop-after') response.destroy();
    else if (fault === 'fail-after') refuse(new AwsError('InternalError', 'Broke after it', 500));
    else send(response, 200, resultXml(action, result, service));
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    refuse(error);
  }
}

function resultXml(action: string, result: Xml, service: Service | undefined): string {
  const { isCompute = false, namespace = '' } = service ?? {};
  const body = encodeXml(result, isCompute ? 'item' : 'member');
  const inside = isCompute
    ? `<requestId>emulated</requestId>${body}`
    : `<${action}Result>${body}</${action}Result><ResponseMetadata><RequestId>emulated</RequestId></ResponseMetadata>`;
  return `<${action}Response xmlns="${namespace}">${inside}</${action}Response>`;
}

function errorXml({ code, message, status }: AwsError, isCompute: boolean): string {
  const type = status >= 500 ? 'Receiver' : 'Sender';
  const error = encodeXml({ Code: code, Message: message }, 'item');
  return isCompute
    ? `<Response><Errors><Error>${error}</Error></Errors><RequestID>emulated</RequestID></Response>`
    : `<ErrorResponse><Error><Type>${type}</Type>${error}</Error><RequestId>emulated</RequestId></ErrorResponse>`;
}

function send(response: ServerResponse, status: number, xml: string): void {
  response.writeHead(status, { 'content-type': 'text/xml' });
  response.end(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`);
}
