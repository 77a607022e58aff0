// Many watchers of one collection, and the writes that they see, in one thread so that one clock times both ends.
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { openClient, openTls, prepare, tlsOptions } from './client.ts';
import { patchBody, serviceName, servicesPath } from './objects.ts';
import { type WatchPlan, type WatchResult, warmUpEvents } from './watch-plan.ts';

const plan = workerData as WatchPlan;
const path = `${servicesPath}?watch=true&resourceVersion=`;
const state = { seen: 0, sentAt: 0, timed: 0, allSeen: (): void => {} };
const latencies = new Float64Array(plan.events * plan.watchers);
let recording = false;
const [brace, lineFeed] = [0x7d, 0x0a];

await (plan.protocol === 'h2' ? watchHttp2() : watchHttp1());
parentPort?.postMessage('connected');
parentPort?.once('message', () => {
  void run().then((result) => {
    parentPort?.postMessage(result);
    process.exit();
  });
});

function onEvent(): void {
  if (recording) latencies[state.timed++] = performance.now() - state.sentAt;
  state.seen += 1;
  if (state.seen === plan.watchers) state.allSeen();
}

/** Every event ends in a line feed after a brace, and none holds another; nothing else on the stream does. */
function eventCounter(): (chunk: Buffer) => void {
  // The two may come in different chunks.
  let last = 0;
  return (chunk) => {
    if (last === brace && chunk[0] === lineFeed) onEvent();
    for (let at = chunk.indexOf('}\n'); at >= 0; at = chunk.indexOf('}\n', at + 2)) onEvent();
    last = chunk.at(-1) ?? last;
  };
}

async function watchHttp2(): Promise<void> {
  const each = Math.ceil(plan.watchers / plan.connections);
  const started: Promise<void>[] = [];
  for (let opened = 0; opened < plan.watchers; opened += each) {
    const session = connectHttp2(`https://localhost:${plan.target.port}`, {
      createConnection: () => connectTls(tlsOptions(plan.target, 'h2')),
    });
    for (let at = opened; at < Math.min(opened + each, plan.watchers); at += 1) {
      const stream = session.request({ ':path': path, accept: 'application/json' });
      stream.on('data', eventCounter());
      started.push(
        new Promise((resolve, reject) => {
          stream.once('response', () => resolve());
          stream.once('error', reject);
        }),
      );
    }
  }
  await Promise.all(started);
}

async function watchHttp1(): Promise<void> {
  for (let opened = 0; opened < plan.watchers; opened += 1) {
    const socket = await openTls(plan.target, 'http/1.1');
    await new Promise<void>((resolve) => {
      socket.once('data', () => {
        socket.on('data', eventCounter());
        resolve();
      });
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n`);
    });
  }
}

async function run(): Promise<WatchResult> {
  const writer = await openClient(plan.target, 'http/1.1');
  for (let round = 0; round < warmUpEvents + plan.events; round += 1) {
    recording = round >= warmUpEvents;
    state.seen = 0;
    const seen = new Promise<void>((resolve) => {
      state.allSeen = resolve;
    });
    state.sentAt = performance.now();
    const patch = {
      method: 'PATCH',
      path: `${servicesPath}/${serviceName(plan.service)}`,
      contentType: 'application/merge-patch+json',
      body: patchBody(`${plan.protocol}-${round}`),
    };
    const answered = writer.send(prepare(patch, 'http/1.1'));
    await Promise.all([seen, answered]);
  }
  return { latencies };
}
