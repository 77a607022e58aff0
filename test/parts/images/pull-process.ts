// A process that pulls an image into a store and unpacks it, for tests that kill it: its arguments are the directory and the name.
import { openImageStore } from '../../../src/images/open-image-store.ts';

const [directory = '', name = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const store = await openImageStore({ directory });
process.send?.('opened');
const image = await store.pull(name, { signal });
process.send?.('pulled');
const { directories } = await store.unpack(image, signal);
process.send?.('unpacked');
process.stdout.write(JSON.stringify(directories));
await store.close();
process.disconnect?.();
