// Records the changes of the resources that leave a history, a little behind the caches and outside of every request: a change costs its
// writer an entry in a list. Every few seconds the list becomes a frame in a file.
import type { Log } from '../../observe/log.ts';
import { parseTime } from '../../schema/time.ts';
import type { Change } from '../cache/resource-cache.ts';
import type { Resource, Resources } from '../cache/resources.ts';
import type { ChangeRecord } from './change-records.ts';
import { decodePart, encodePayload, type TransformerOf } from './frame-payload.ts';
import type { Moment } from './frames.ts';
import { keptResources, nameOfKept } from './kept-resources.ts';
import { type HistoryFiles, openHistoryFiles, type StoredFrame } from './open-history-files.ts';
import { createRecordBuffer, type NotedChange } from './record-buffer.ts';

export type HistoryOptions = {
  /** Of this history alone. */
  readonly directory: string;
  readonly retentionMs: number;
  readonly maxBytes: number;
  /** History is encrypted as the objects are. */
  readonly transformerOf?: TransformerOf;
};

/** A consistent state for one reader. */
export type HistoryState = {
  /** Since when every change is there. */
  readonly since: Moment;
  /** Oldest first. */
  readonly frames: readonly StoredFrame[];
  /** The changes after the frames. */
  readonly recent: ReadonlyMap<string, readonly ChangeRecord[]>;
};

export type History = {
  /** Whose request made this revision. */
  readonly noteUser: (revision: number, user: string) => void;
  readonly state: () => HistoryState;
  /** Of one resource; undefined where they were dropped meanwhile, are damaged, or their encryption key is missing. */
  readonly readFrame: (
    frame: StoredFrame,
    resource: string,
  ) => Promise<readonly ChangeRecord[] | undefined>;
  /** Writes what is not written yet. */
  readonly close: () => Promise<void>;
};

export type HistoryParts = HistoryOptions & {
  readonly resources: Resources;
  readonly now: () => number;
  readonly log: Log;
};

/** What a kill may lose of what the store does not have any more; more often, idle clusters would write more. */
const frameMs = 10_000;
/** Changes that become records at once: a millisecond or two. */
const recordsAtOnce = 256;
/** Lets the writers of changes say who they are. */
const encodeDelayMs = 50;
/** Larger frames compress little better. */
const maxFrameBytes = 512 * 1024;
/** Of records that wait for the disk. */
const maxWaitingBytes = 64 * 1024 * 1024;
/** Files are a fraction of the retention, as whole files are dropped. */
const filesPerRetention = 8;

export async function startHistory(parts: HistoryParts): Promise<History> {
  const { resources, now, retentionMs, maxBytes, directory } = parts;
  const kept = keptResources
    .map(nameOfKept)
    .map((name): Kept => ({ name, resource: resources.of(name) }));
  const files = await openHistoryFiles({
    ...{ directory, maxBytes, maxFileMs: retentionMs / filesPerRetention },
    cluster: resources.reader.get('namespaces', '', 'kube-system')?.metadata.uid ?? '',
  });
  const recorder = createRecorder(parts, files);
  if (files.frames().length === 0) recorder.anchor();
  const stop = followCaches(kept, recorder, now);
  const timer = setInterval(() => {
    recorder.closeFrame();
    recorder.run(() => files.dropBefore(now() - retentionMs));
  }, frameMs);
  timer.unref();
  return {
    noteUser: recorder.buffer.noteUser,
    state: () => stateOf(recorder, files, kept),
    async readFrame(frame, resource) {
      const part = frame.parts.find((one) => one.resource === resource);
      if (part === undefined) return [];
      const payload = await files.readPayload(frame);
      const { transformerOf } = parts;
      return payload && decodePart({ part, payload, from: frame.from, transformerOf });
    },
    async close() {
      clearInterval(timer);
      stop();
      await recorder.idle();
      recorder.closeFrame();
      await recorder.idle();
    },
  };
}

type Kept = { readonly name: string; readonly resource: Resource };

type Recorder = ReturnType<typeof createRecorder>;

function createRecorder({ resources, now, log, transformerOf }: HistoryParts, files: HistoryFiles) {
  const buffer = createRecordBuffer();
  const present = (): Moment => ({ revision: resources.revision(), timeMs: now() });
  let begun = present();
  let running = Promise.resolve();
  let isFailing = false;
  /** Where the next frame begins. */
  let end = files.frames().at(-1)?.to ?? begun;

  function forget(): void {
    buffer.clear();
    begun = present();
    end = begun;
  }

  /** One task after the other. A failure costs history and is logged once. */
  function run(task: () => Promise<void>): void {
    const attempt = async (): Promise<void> => {
      try {
        await task();
        isFailing = false;
      } catch (error) {
        if (!isFailing)
          log.error('Failed to record history, starting anew', { error: String(error) });
        isFailing = true;
        forget();
        // Whatever the reason: what cannot be removed does not continue, and is dropped when it is read again.
        await files.clear().catch(() => undefined);
      }
    };
    running = running.then(attempt);
  }

  /** Says where the history begins, so that a kill before the first frame loses nothing. */
  function anchor(): void {
    const at = begun;
    run(() => files.append({ from: at, to: at, parts: [] }, Buffer.alloc(0)));
  }

  return {
    buffer,
    run,
    anchor,
    idle: () => running,
    begun: () => begun,
    end: () => end,
    /** What was recorded is not complete: the history begins now. */
    begin(): void {
      forget();
      run(files.clear);
      anchor();
    },
    closeFrame(): void {
      buffer.encode();
      const to = present();
      if (to.revision <= end.revision) return;
      const batch = buffer.take();
      if (batch === undefined) return;
      const from = end;
      end = to;
      run(async () => {
        const { parts, payload } = await encodePayload(batch, from, transformerOf);
        await files.append({ from, to, parts }, payload);
        buffer.wrote(batch);
      });
    },
  };
}

/** Returns what ends it. */
function followCaches(kept: readonly Kept[], recorder: Recorder, now: () => number): () => void {
  const { buffer } = recorder;
  let soon: NodeJS.Timeout | undefined;

  function encodeSome(): void {
    soon = undefined;
    buffer.encode(recordsAtOnce);
    if (buffer.bytes() >= maxFrameBytes) recorder.closeFrame();
    // The disk is slower than the writers.
    if (buffer.bytes() >= maxWaitingBytes) recorder.begin();
    if (buffer.pending() >= recordsAtOnce) soon = setTimeout(encodeSome, 0);
  }

  const missed = missedChanges(kept, recorder.end(), recorder.begun());
  if (missed === undefined) recorder.begin();
  else for (const change of missed) buffer.add(change);
  const ends = kept.map(({ name, resource }) =>
    resource.cache.subscribe((change) => {
      buffer.add({ resource: name, change, timeMs: now() });
      if (buffer.pending() >= recordsAtOnce) soon ??= setTimeout(encodeSome, encodeDelayMs);
    }, recorder.begin),
  );
  return () => {
    clearTimeout(soon);
    for (const stop of ends) stop();
  };
}

/** Changes between the end of the files and now, as after a restart; undefined where the caches do not have them all. */
function missedChanges(
  kept: readonly Kept[],
  end: Moment,
  now: Moment,
): readonly NotedChange[] | undefined {
  // The store was set back to an older state.
  if (end.revision > now.revision) return undefined;
  const missed: NotedChange[] = [];
  for (const { name, resource } of kept) {
    const changes = resource.cache.changesAfter(end.revision);
    if (changes === undefined) return undefined;
    for (const change of changes)
      missed.push({ resource: name, change, timeMs: timeOf(change, end, now) });
  }
  return missed.sort((a, b) => a.change.revision - b.change.revision);
}

/** The time was not noted: that of the newest manager, where it is plausible. */
function timeOf({ type, current }: Change, end: Moment, now: Moment): number {
  if (type === 'DELETED') return now.timeMs;
  const times = (current.object.metadata.managedFields ?? []).map(
    ({ time }) => parseTime(time ?? '') ?? 0,
  );
  const newest = Math.max(0, ...times);
  return newest < end.timeMs || newest > now.timeMs ? now.timeMs : newest;
}

function stateOf(recorder: Recorder, files: HistoryFiles, kept: readonly Kept[]): HistoryState {
  recorder.buffer.encode();
  const frames = files.frames();
  // What is being written may be in a frame already.
  const written = frames.at(-1)?.to.revision ?? 0;
  const recent = kept.map(({ name }): [string, readonly ChangeRecord[]] => [
    name,
    recorder.buffer.records(name).filter(({ revision }) => revision > written),
  ]);
  return { since: frames[0]?.from ?? recorder.begun(), frames, recent: new Map(recent) };
}
