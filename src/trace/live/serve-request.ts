// Does what is asked in the network in which it runs.
import { readFile } from 'node:fs/promises';
import { allModes } from '../../proxy/modes/all.ts';
import type { KernelRules, LiveAnswer, LiveRequest } from './live-request.ts';
import { openConnections } from './open-connections.ts';
import { readFlows } from './read-flows.ts';
import { sendQuery } from './send-query.ts';

export async function serveRequest(request: LiveRequest): Promise<LiveAnswer> {
  switch (request.kind) {
    case 'resolver':
      return readResolver(request.path);
    case 'query':
      return sendQuery(request);
    case 'connect':
      return { attempts: await openConnections(request) };
    case 'flows':
      return { flows: await readFlows(request) };
    case 'rules':
      return readRules(request);
  }
}

/** Longer ones are no resolv.conf. */
const maxResolverCharacters = 100_000;

async function readResolver(path: string): Promise<{ readonly text?: string }> {
  try {
    return { text: (await readFile(path, 'utf8')).slice(0, maxResolverCharacters) };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'EACCES', 'ESRCH'].includes(code)) return {};
    throw error;
  }
}

async function readRules({
  mode: name,
  state,
}: Extract<LiveRequest, { readonly kind: 'rules' }>): Promise<KernelRules> {
  const mode = await allModes.find((one) => one.name === name)?.load();
  if (mode?.readDrift === undefined) return { why: `rules of mode ${name} cannot be compared` };
  const drift = await mode.readDrift(state);
  if (drift === undefined) return { why: `the kernel has no rules of Fairlead's mode ${name}` };
  return { missing: drift.missing.slice(0, maxRules), stale: drift.stale.slice(0, maxRules) };
}

/** More say nothing more. */
const maxRules = 1000;
