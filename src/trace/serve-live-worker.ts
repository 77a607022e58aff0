// A process of its own in the network of a pod or a node: another process of this program asks it, over the channel that Node.js gives to
// child processes. It ends with that channel.
import type { LiveRequest } from './live/live-request.ts';
import { serveRequest } from './live/serve-request.ts';

type Numbered = { readonly id: number; readonly request: LiveRequest };

process.on('message', ({ id, request }: Numbered) => {
  serveRequest(request).then(
    (answer) => process.send?.({ id, answer }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
