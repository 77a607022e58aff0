// /healthz, /livez and /readyz: one line for probes, all checks with `verbose`.
import { goQuote } from '../../schema/go-quote.ts';

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';

export type HealthCheck = {
  readonly name: string;
  /** Throws or rejects when something is wrong. The reason stays inside, except at the check's own path. */
  readonly check: () => Promise<void> | void;
  /** Where the check counts; absent: everywhere. */
  readonly kinds?: readonly HealthEndpoint[];
};

export type HealthAnswer = { readonly status: number; readonly text: string };

export type Health = {
  /** Undefined when the path is none of the health endpoints. */
  readonly handle: (path: string, query: URLSearchParams) => Promise<HealthAnswer | undefined>;
};

const endpoints: readonly HealthEndpoint[] = ['healthz', 'livez', 'readyz'];
/** Passes whenever the server can answer at all. */
const ping: HealthCheck = { name: 'ping', check: () => {} };

export function createHealth(checks: readonly HealthCheck[]): Health {
  const all = [ping, ...checks];
  return {
    async handle(path, query) {
      const endpoint = endpoints.find(
        (name) => path === `/${name}` || path.startsWith(`/${name}/`),
      );
      if (endpoint === undefined) return undefined;
      const counted = all.filter(({ kinds }) => kinds?.includes(endpoint) ?? true);
      if (path === `/${endpoint}`) return await summary(endpoint, counted, query);
      const name = path.slice(endpoint.length + 2);
      const single = counted.find((check) => check.name === name);
      return single && (await detail(single));
    },
  };
}

/** Upstream's patience with etcd; probes have little more. */
const checkLimitMs = 2000;

/** What takes longer is not well, though it may yet answer. */
export function withinTime(work: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = new Error(`no answer within ${checkLimitMs} ms`);
    const timer = setTimeout(() => reject(late), checkLimitMs);
    work.then(() => resolve(), reject).finally(() => clearTimeout(timer));
  });
}

async function summary(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  query: URLSearchParams,
): Promise<HealthAnswer> {
  const excluded = new Set(query.getAll('exclude'));
  const lines: string[] = [];
  let failed = false;
  for (const { name, check } of checks) {
    if (excluded.delete(name)) {
      lines.push(`[+]${name} excluded: ok\n`);
    } else if ((await reasonOf(check)) === undefined) {
      lines.push(`[+]${name} ok\n`);
    } else {
      failed = true;
      lines.push(`[-]${name} failed: reason withheld\n`);
    }
  }
  if (excluded.size > 0) {
    const names = [...excluded].sort().map((name) => goQuote(name));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`);
  }
  if (failed) return { status: 500, text: `${lines.join('')}${endpoint} check failed\n` };
  if (!query.has('verbose')) return { status: 200, text: 'ok' };
  return { status: 200, text: `${lines.join('')}${endpoint} check passed\n` };
}

async function detail({ check }: HealthCheck): Promise<HealthAnswer> {
  const reason = await reasonOf(check);
  if (reason === undefined) return { status: 200, text: 'ok' };
  return { status: 500, text: `internal server error: ${reason}\n` };
}

async function reasonOf(check: HealthCheck['check']): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
