// Everything that an answer shows of objects, whether it is one object, a list, or a watch up to the end of its state.
import { connect } from 'node:http2';
import { endLater } from '../../../src/host/end-later.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import type { ApiCall, Endpoint } from './api-client.ts';

/** `verb` is how the object was read, by the form of the answer. */
export type Shown = { readonly verb: 'get' | 'list' | 'watch'; readonly object: KubeObject };
export type Reading = {
  readonly status: number;
  readonly text: string;
  readonly shown: readonly Shown[];
};
export type Reader = {
  readonly read: (call: ApiCall) => Promise<Reading>;
  readonly close: () => void;
};

/** Calls that may become watches must ask for bookmarks: the one after the state ends the reading. */
export async function openReader({ port, ...tls }: Endpoint): Promise<Reader> {
  const session = connect(`https://localhost:${port}`, tls);
  session.on('error', () => {});
  await new Promise((resolve, reject) => {
    session.once('connect', resolve);
    session.once('error', reject);
  });
  return {
    async read({ method, path, body, headers = {} }) {
      const text = body === undefined ? '' : JSON.stringify(body);
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const head = { ':method': method, ':path': path, ...type, ...headers };
      const stream = session.request(head, { endStream: text === '' });
      if (text !== '') stream.end(text);
      const status = await new Promise<number>((resolve, reject) => {
        stream.once('response', (answered) => resolve(Number(answered[':status'])));
        stream.once('error', reject);
      });
      let received = '';
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        received += chunk.toString('utf8');
        if (/"type":"BOOKMARK".*\n/.test(received)) break;
      }
      endLater(stream);
      return {
        status,
        text: received,
        shown: status === 200 || status === 201 ? shownBy(received) : [],
      };
    },
    close: () => session.close(),
  };
}

type Event = { readonly type: string; readonly object: KubeObject };
type List = { readonly kind: string; readonly apiVersion: string; readonly items: KubeObject[] };

function shownBy(text: string): readonly Shown[] {
  const [first = ''] = text.split('\n');
  if (first === '') return [];
  if (first.startsWith('{"type":')) {
    const events = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Event);
    return events
      .filter(({ type }) => type !== 'BOOKMARK' && type !== 'ERROR')
      .map(({ object }) => ({ verb: 'watch', object }));
  }
  const answer = JSON.parse(text) as KubeObject | List;
  if (!('items' in answer)) return [{ verb: 'get', object: answer as KubeObject }];
  const kind = answer.kind.replace(/List$/, '');
  return answer.items.map((item) => ({ verb: 'list', object: { ...item, kind } }));
}
