// The path of a worker thread's file. Every `*-worker.ts` is an entry point of the bundle, in the same folder as in the compiled
// tree; this file is one folder deep in both (dist/src/host/, dist/bundle/cli/).

/** The URL for `new Worker(...)` of a file under src/, given without ending, as `dns/run-answers-worker`. */
export function workerUrl(path: `${string}-worker`): URL {
  return new URL(`../${path}.js`, import.meta.url);
}
