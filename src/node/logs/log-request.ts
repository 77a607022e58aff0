// Parses the options of a log request, and finds the run of the container whose log is requested.
import type { Pod } from '../../kinds/pod/types.ts';
import { parseTime } from '../../schema/time.ts';
import { allContainers } from '../pod/container-lists.ts';
import type { ContainerRecord, ContainerRecords } from '../pod/container-record.ts';

/** An error with its HTTP status. */
export class LogError extends Error {
  override readonly name = 'LogError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export type ParsedLogOptions = {
  readonly isFollowed: boolean;
  readonly isPrevious: boolean;
  readonly hasTimes: boolean;
  readonly tailLines?: number;
  readonly since?: number;
  readonly limitBytes?: number;
  readonly stream?: 'stdout' | 'stderr';
};

export function parseLogOptions(query: URLSearchParams, now: number): ParsedLogOptions {
  const tailLines = number(query, 'tailLines');
  const limitBytes = number(query, 'limitBytes');
  const seconds = number(query, 'sinceSeconds');
  const time = parseTime(query.get('sinceTime') ?? '');
  const since = seconds === undefined ? time : now - seconds * 1000;
  const stream = query.get('stream')?.toLowerCase();
  return {
    isFollowed: query.get('follow') === 'true',
    isPrevious: query.get('previous') === 'true',
    hasTimes: query.get('timestamps') === 'true',
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(since === undefined ? {} : { since }),
    ...(stream === 'stdout' || stream === 'stderr' ? { stream } : {}),
  };
}

function number(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new LogError(400, `${name} must be a number: ${JSON.stringify(text)}`);
}

export type WantedLog = {
  readonly pod: Pod;
  readonly records: ContainerRecords;
  readonly container: string;
  readonly isPrevious: boolean;
};

/** The attempt number of the run; throws LogError if there is none. */
export function findLog({ pod, records, container, isPrevious }: WantedLog): number {
  const quoted = `${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`;
  if (!allContainers(pod).some(({ name }) => name === container)) {
    throw new LogError(404, `container ${quoted} is not available`);
  }
  const record = records[container];
  const isWaiting = record === undefined || record.state.kind === 'waiting';
  if (isPrevious) {
    if (record?.last === undefined) {
      throw new LogError(400, `previous terminated container ${quoted} not found`);
    }
    // During back-off, the failed run is still the latest.
    return isWaiting ? record.restartCount : record.restartCount - 1;
  }
  if (record !== undefined && (!isWaiting || record.last !== undefined)) return record.restartCount;
  throw new LogError(400, `container ${quoted} is waiting to start: ${waitReason(pod, record)}`);
}

function waitReason({ spec }: Pod, record: ContainerRecord | undefined): string {
  const reason = record?.state.kind === 'waiting' ? record.state.reason : undefined;
  if (reason === undefined) {
    return (spec.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating';
  }
  return /^(Err)?Image/.test(reason) ? 'trying and failing to pull image' : reason;
}
