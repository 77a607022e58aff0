// Where a worker thread's file is. `x-worker.ts` files are entries of their own in the bundle, in the same folders as
// in the compiled tree; this file ends up one folder deep in both (dist/src/host/, dist/bundle/cli/).

/** The URL for `new Worker(...)` of a file under src/, given without ending, as `dns/run-answers-worker`. */
export function workerUrl(path: `${string}-worker`): URL {
  return new URL(`../${path}.js`, import.meta.url);
}
